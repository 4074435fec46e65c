/** `apply` where no cache is needed: refusals of documents, ownership of objects, permissions. */
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { rows, type Json } from '../coordinator/identity/people.js'
import { answerOnTerminal, makeFolder, startFixture, type Files } from './apply-fixture.js'
import { call, makeHome, type Ran } from './run-cli.js'

const main = 'vcl 4.1;\nbackend default none;\n'

void t.test(
  'apply accepts YAML and JSON, several documents per file, and every spelling of the API',
  async (t) => {
    const { apply, list } = await startFixture(t)
    const files = {
      'a.yaml': `
kind: Tag
Name: eu
---
- kind: file
  name: main.vcl
  source: @vcl/main.vcl # without quotes, as everybody writes it
- {kind: files, name: inc.vcl, source: "sub a {}"}
---
`,
      'b.yml': 'kind: dep\nname: web\ntags: [eu]\nmax: 3\n---\nkind: domain\nFQDN: Shop.Example\n',
      'c.json': `[{"kind": "vg", "name": "site", "mainvcl": {"name": "main.vcl", "version": 1},
      "includes": ["inc.vcl"], "domains": [{"fqdn": "SHOP.example"}], "deployments": [{"name": "web"}],
      "releases": ["6.0", "vinyl-9"]}]`,
      '.hidden.yaml': 'kind: bogus',
      'notes.txt': 'kind: bogus',
      'vcl/main.vcl': main,
      'vcl/more.yaml': 'kind: bogus',
    }
    const ran = await apply(files)
    t.match(ran, {
      code: 0,
      err: /^cachefleet: warning: vclgroup "site" was not compiled: no agent/,
    })
    t.equal(ran.out.split('\n').length, 7, 'six steps')
    t.match(await list('/vclgroups'), [
      {
        name: 'site',
        mainVCL: { name: 'main.vcl', version: 1 },
        includes: [{ name: 'inc.vcl' }],
        domains: [{ fqdn: 'shop.example' }],
        deployments: [{ name: 'web' }],
        managedBy: 'fleet',
        deployed: false,
        organization: { name: 'red' },
        releases: ['6.0', 'vinyl-9'],
      },
    ])
    t.match(await list('/files?sort=name'), [{ fileType: 2 }, { fileType: 1 }])
    t.match(await apply(files), { code: 0, out: 'nothing to change\n', err: '' })

    const exported = await list('/deployments')
    const again = {
      'all.json': JSON.stringify(exported.map((one) => ({ kind: 'deployment', ...one }))),
    }
    t.match(await apply(again), { code: 0, out: 'nothing to change\n' }, 'a GET body is a document')
    const smaller = { 'x.yaml': 'kind: deployment\nname: web\ntags: [eu]' }
    t.match(await apply(smaller), { code: 0, out: 'change deployment "web": done\n' })
    t.match(await list('/deployments'), [{ max: 1 }], 'an omitted field is reset to its default')
  },
)

void t.test('invalid documents are reported with file and line before any call', async (t) => {
  const environment = { ...(await makeHome(t)), CACHEFLEET_SERVER: 'http://127.0.0.1:1' }
  const refused: readonly (readonly [text: string, problem: RegExp])[] = [
    ['kind: tag\nname: 5', /^a.yaml line 2: name: it is 5; expected a text; quote it/],
    ['kind: tag\n', /^a.yaml line 1: name is missing/],
    ['kind: vg\nreleases: [6.0]', /^a.yaml line 2: releases: it is 6; expected a text; quote/],
    ['kind: vg\nreleases: [vinyl9]', /^a.yaml line 2: releases: it is "vinyl9"; expected a rel/],
    ['kind: vg\nreleases: "7"', /^a.yaml line 2: releases: it is "7"; expected a list of texts/],
    ['kind: tag\nname: "a\\nb"', /^a.yaml line 1: name: a name has no control/],
    ['kind: bogus\nname: x', /^a.yaml line 1: kind is "bogus"; it is one of tag, file,/],
    ['name: x', /^a.yaml line 1: kind is missing/],
    [
      'kind: tag\nname: x\ncolour: red',
      /^a.yaml line 3: colour is not known here; known are kind, name/,
    ],
    ['kind: tag\nname: x\n__proto__: 1', /^a.yaml line 3: __proto__ is not known here/],
    ['kind: tag\nname: x\nName: y', /^a.yaml line 3: name is given twice, in different case/],
    ['kind: tag\nname: x\nname: y', /^a.yaml line 3: Map keys must be unique/],
    [
      'kind: tag\nname: x\n---\nkind: tag\nname: x',
      /^a.yaml line 4: tag "x" has a document already, a.yaml line 1/,
    ],
    ['- 5', /^a.yaml line 1: a document is a map/],
    ['kind: [', /^a.yaml line 1: /],
    ['kind: `tag', /^a.yaml line 1: Plain value cannot start with reserved character `/],
    ['a: &a [*a]', /^a.yaml: an alias \(\*name\) stands inside/],
    ['kind: tag\nname: &a [*a]', /^a.yaml: an alias \(\*name\) stands inside/],
    [
      'kind: set\nname: a\n---\nkind: set\nname: b',
      /^a.yaml line 4: a second document of kind set/,
    ],
    ['kind: set\nname: a\nmore: b', /^a.yaml line 3: more is not known here/],
    ['kind: file\nname: f', /^a.yaml line 1: source is missing/],
    ['kind: file\nname: f\nsource: @no.vcl', /^a.yaml line 3: source: no.vcl: no such file/],
    [
      'kind: file\nname: f\nsource: @../x',
      /^a.yaml line 3: source: ..\/x: it is outside the folder/,
    ],
    [
      'kind: file\nname: f\nsource: @/etc/passwd',
      /^a.yaml line 3: source: \/etc\/passwd: no such file/,
    ],
    ['kind: file\nname: f\nsource: @out.vcl', /^a.yaml line 3: source: out.vcl: it is outside/],
    ['kind: file\nname: f\nsource: @.', /^a.yaml line 3: source: .: it is not a plain file/],
    [
      'kind: file\nname: f\nsource: "-"\nencoded: true',
      /^a.yaml line 1: source: an encoded source is/,
    ],
    ['kind: file\nname: f\nsource: x\nfileType: 5', /^a.yaml line 1: fileType: expected 1/],
    ['kind: domain\nfqdn: "a.example:80"', /^a.yaml line 1: fqdn: /],
    ['kind: deployment\nname: d\ntags: []', /^a.yaml line 1: tags: a deployment has at least one/],
    ['kind: deployment\nname: d\ntags: web', /^a.yaml line 3: tags: it is "web"; expected a list/],
    [
      'kind: deployment\nname: d\ntags: [a]\nmin: 1.5',
      /^a.yaml line 4: min: it is 1.5; expected a whole number/,
    ],
    ['kind: deployment\nname: d\ntags: [a]\nmin: 2', /^a.yaml line 1: max is 1 and min 2/],
    ['kind: file\nname: f\nsource: "a: 1"\nfileType: 4', /^a.yaml line 1: source: line 1: /],
    ['kind: vclgroup\nname: g', /^a.yaml line 1: mainVCL is missing/],
    [
      'kind: vclgroup\nname: g\nmainVCL: {id: 5}',
      /^a.yaml line 3: mainVCL: it is nothing; expected a text/,
    ],
    [
      'kind: vclgroup\nname: g\nmainVCL: f\nroot: false',
      /^a.yaml line 1: root is false, and the group has 0/,
    ],
    [
      'kind: vclgroup\nname: g\nmainVCL: f\ndeployed: "yes"',
      /^a.yaml line 4: deployed: it is "yes"; expected true or/,
    ],
  ]
  for (const [text, problem] of refused) {
    const folder = await makeFolder(t, { 'a.yaml': text })
    await symlink('/etc/passwd', join(folder, 'out.vcl'))
    const { code, out, err } = await call(['apply', '-f', folder], { environment })
    t.match({ code, out }, { code: 2, out: '' }, text)
    t.match(err.replace(/^cachefleet: /, ''), problem)
    t.match(err, /Nothing was changed\.\n$/)
  }
  for (const words of [[], ['-f', '/nowhere'], ['-f', await makeFolder(t, {})]])
    t.match(await call(['apply', ...words], { environment }), { code: 2, err: /-f/ })
})

void t.test('a folder of VCL is one document, and each of its files an object', async (t) => {
  const { apply, list } = await startFixture(t)
  const folder = (document: string): Files => ({
    'a.yaml': `${document}\n---\nkind: vclgroup\nname: site\nmainVCL: main.vcl\nincludes: [part.vcl]\n`,
    'vcl/main.vcl': `${main}include "part.vcl";\n`,
    'vcl/part.vcl': 'sub part {}\n',
    'vcl/notes.txt': 'for people',
    'vcl/.hidden.vcl': 'sub hidden {}\n',
  })
  const names = async () => (await list('/files?sort=name')).map(({ name }) => name)
  t.match(await apply(folder('kind: files\nfolder: vcl'), '--plan'), { code: 2 })
  t.match(await apply(folder('kind: files\nfolder: vcl')), { code: 0 })
  t.same(await names(), ['main.vcl', 'part.vcl'])
  t.match(await apply(folder('kind: files\nfolder: vcl'), '--plan'), { code: 0 })
  const wider = folder("kind: files\nfolder: vcl\nmatch: '*.*'")
  t.match(await apply(wider), { code: 0, out: /^create file "notes.txt": done\n$/ })

  for (const [document, problem] of Object.entries({
    'kind: files\nfolder: vcl\nmatch: "*.c"': /a\.yaml line 2: folder: vcl has no file \*\.c/,
    'kind: files\nfolder: ../vcl': /line 2: folder: \.\.\/vcl: it is outside the folder/,
    'kind: files\nfolder: none': /line 2: folder: none: no such folder/,
    'kind: files\nfolder: vcl\nmatch: a/b': /line 3: match: expected a pattern of file names/,
    'kind: files\nfolder: 7': /line 2: folder: expected a path inside/,
    'kind: files\nfolder: vcl\nname: x': /line 3: name is not known here; known are kind, folder/,
  })) {
    t.match(await apply(folder(document)), { code: 2, err: problem }, document)
    t.match(await apply(folder(document), '--plan'), { code: 1, err: problem }, document)
  }
})

void t.test('a reference to a missing object is refused with its line', async (t) => {
  const { apply, list } = await startFixture(t)
  const group = 'kind: vclgroup\nname: g\nmainVCL: f\nincludes: [i]\ndomains: [d.example]\n'
  const ran = await apply({ 'a.yaml': `kind: tag\nname: t\n---\n${group}` }, '--prune')
  t.match(ran, { code: 1, out: '' })
  for (const [line, problem] of [
    [6, 'vclgroup "g": mainVCL: there is no file "f"'],
    [7, 'vclgroup "g": includes: there is no file "i"'],
    [8, 'vclgroup "g": domains: there is no domain "d.example"'],
  ] as const)
    t.ok(ran.err.includes(`a.yaml line ${line}: ${problem}`), problem)
  t.same(await list('/tags'), [])
})

void t.test(
  'sets leave each other’s and handmade objects alone, and --adopt takes over both',
  async (t) => {
    const { apply, list, person } = await startFixture(t)
    const ownerOf = async (name: string): Promise<unknown> =>
      (await list(`/files?name=${name}`))[0]?.['managedBy']
    const one = (name: string, source: string): Files => ({
      'a.yaml': `kind: file\nname: ${name}\nsource: ${source}`,
    })
    await person.call(201, 'POST', '/files', { name: 'hand', source: 'a' })
    t.match(await apply(one('red', 'a'), '--set', 'red'), { code: 0 })

    const theirs = await apply(one('red', 'b'), '--set', 'blue')
    t.match(theirs, {
      code: 1,
      err: /^cachefleet: a.yaml line 1: file "red": belongs to the set "red"/,
    })
    t.match(await apply(one('hand', 'b'), '--set', 'blue', '--plan'), {
      out: /created by hand: --prune leaves it/,
    })
    t.match(await apply(one('hand', 'b'), '--set', 'blue'), {
      code: 0,
      out: 'change file "hand": done\n',
    })
    t.equal(await ownerOf('hand'), null)
    t.match(await apply(one('blue', 'b'), '--set', 'blue', '--prune', '--yes'), { code: 0 })
    t.equal((await list('/files')).length, 3, 'nothing was pruned')

    t.match(await apply(one('red', 'b'), '--set', 'blue', '--adopt'), { code: 0 })
    t.match(await apply(one('hand', 'b'), '--set', 'blue', '--adopt'), { code: 0 })
    t.equal(await ownerOf('red'), 'blue')
    t.equal(await ownerOf('hand'), 'blue')
    const pruned = await apply(one('blue', 'b'), '--set', 'blue', '--prune', '--yes', '--json')
    t.match(JSON.parse(pruned.out), {
      set: 'blue',
      steps: [
        { action: 'delete', kind: 'file', done: true },
        { action: 'delete', kind: 'file', done: true },
      ],
    })
    t.same(
      (await list('/files')).map(({ name }) => name),
      ['blue'],
    )
  },
)

void t.test('apply changes one organization only, even for the system administrator', async (t) => {
  const { apply, tenants, environmentOf, makeFolder } = await startFixture(t)
  const document = 'kind: tag\nname: web'
  t.match(await apply({ 'a.yaml': document }), { code: 0, out: 'create tag "web": done\n' })
  const folder = await makeFolder({ 'a.yaml': document })
  const environment = environmentOf(tenants.system)
  t.match(await call(['apply', '-f', folder], { environment }), { code: 0, out: /^create tag/ })
  await writeFile(join(folder, 'a.yaml'), '{kind: file, name: f, source: x}')
  t.match(await call(['apply', '-f', folder, '--prune', '--yes'], { environment }), { code: 0 })
  const tags = rows(await tenants.system.call(200, 'GET', '/tags'))
  t.match(tags, [{ name: 'web', organization: { name: 'red' } }])
  t.equal(tags.length, 1)
  const elsewhere = `${document}\norganization: {name: blue}`
  t.match(await apply({ 'a.yaml': elsewhere }), {
    code: 2,
    err: /a.yaml line 3: organization: apply/,
  })
  t.match(await apply({ 'a.yaml': `${document}\norganization: red` }), { code: 0 })
})

void t.test(
  'a user with too few rights gets all missing ones listed before anything is changed',
  async (t) => {
    const { tenants, person, environmentOf, makeFolder, list } = await startFixture(t)
    const bert = await tenants.addPerson('bert', 'red')
    const folder = await makeFolder({
      'a.yaml': 'kind: tag\nname: t\n---\nkind: file\nname: f\nsource: x',
      'b.yaml': 'kind: vclgroup\nname: g\nmainVCL: f',
    })
    const apply = (...words: string[]): Promise<Ran> =>
      call(['apply', '-f', folder, ...words], { environment: environmentOf(bert) })
    const account = { id: bert.id }
    const grant = (type: string, write: boolean): Promise<Json> =>
      person.call(201, 'POST', '/permissions', { account, type, read: true, write })

    t.match(await apply(), {
      code: 5,
      err: /permission to read tag, to read file, to read deployment, to read vclgroup; nothing was/,
    })
    for (const type of ['file', 'deployment', 'vclgroup']) await grant(type, false)
    await grant('tag', true)
    t.match(await apply('--plan'), { code: 2, out: /note: the VCL was not compiled: that needs/ })
    t.match(await apply(), {
      code: 5,
      err: /permission to write file, to write vclgroup, to read agent; nothing was changed/,
    })
    t.same(await list('/tags'), [])
  },
)

void t.test('an object changed during the confirmation is not overwritten', async (t) => {
  const { apply, person, environmentOf, makeFolder, list } = await startFixture(t)
  const files = (source: string): Files => ({
    'a.yaml': `kind: file\nname: f\nsource: ${source}`,
    'b.yaml': 'kind: tag\nname: gone',
  })
  t.match(await apply(files('a')), { code: 0 })
  const folder = await makeFolder({ 'a.yaml': files('b')['a.yaml'] ?? '' })
  const [file] = await list('/files')
  const ran = await answerOnTerminal(['apply', '-f', folder, '--prune'], {
    environment: environmentOf(person),
    answer: async () => {
      await person.call(200, 'PUT', `/files/${String(file?.['id'])}`, { source: 'by hand' })
      return 'y\n'
    },
  })
  t.equal(ran.code, 1)
  t.match(ran.err, /~ change file "f"[^]*- delete tag "gone"[^]*Delete tag "gone"\?/)
  t.match(ran.err, /file "f" was changed by somebody else since the plan was made[^]*0 of 2 steps/)
  t.match(await list('/files'), [{ version: 2 }])
  t.match(await apply(files('b')), { code: 0 }, 'a new plan may overwrite it')
})

void t.test('two simultaneous runs leave the result of one', async (t) => {
  const { apply, list } = await startFixture(t)
  const names = ['a', 'b', 'c', 'd', 'e']
  const files = {
    'a.yaml': names.map((name) => `{kind: file, name: ${name}, source: x}`).join('\n---\n'),
  }
  const both = await Promise.all([apply(files), apply(files)])
  for (const { code, err } of both)
    if (code !== 0) t.match({ code, err }, { code: 1, err: /is taken[^]*A second run goes on/ })
  t.match(await apply(files), { code: 0 })
  t.match(await apply(files), { code: 0, out: 'nothing to change\n' })
  t.same(
    (await list('/files?sort=name')).map(
      ({ name, version }) => `${String(name)} ${String(version)}`,
    ),
    names.map((name) => `${name} 1`),
  )
})

void t.test('the schema is printed without a login', async (t) => {
  const { tenants } = await startFixture(t)
  const environment = { ...(await makeHome(t)), CACHEFLEET_SERVER: tenants.controller.base }
  const { code, out } = await call(['apply', '--schema'], { environment })
  t.equal(code, 0)
  t.match(JSON.parse(out), { $defs: { vclgroup: { required: ['kind', 'name', 'mainVCL'] } } })
})
