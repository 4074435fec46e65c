/** The life of every kind of object in the CLI, and its output. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { enrol } from '../coordinator/controller/client.js'
import { startFixture } from './fixture.js'
import { live } from './object-life.js'

const main = 'vcl 4.1;\nbackend default none;\n'

void t.test('every kind of object is created, read, changed and deleted', async (t) => {
  const fixture = await startFixture(t)
  const { api, folder } = fixture
  const web = await fixture.json('tags', 'add', '--name', 'web')
  const comma = await fixture.json('tags', 'add', '--name', 'a,b*')
  const file = await fixture.json('files', 'add', '--name', 'main.vcl', '--source', main)
  const deployment = await fixture.json('dep', 'add', '--name', 'eu', '--tags', 'web')

  await live(t, fixture, {
    noun: 'tags',
    add: ['--name', 'edge'],
    name: 'edge',
    change: ['--name', 'edge2'],
    changed: { name: 'edge2', static: false },
  })
  await live(t, fixture, {
    noun: 'deployments',
    add: ['--name', 'us', '--tags', `${String(web['id'])},a\\,b*`, '--min', '1', '--max', '3'],
    name: 'us',
    change: ['--no-max', '--tags', 'web'],
    changed: { max: 1, tags: [{ id: web['id'], name: 'web' }] },
  })
  await live(t, fixture, {
    noun: 'files',
    add: ['--name', 'part.vcl', '--source', 'sub a { }', '--file-type', '3'],
    name: 'part.vcl',
    change: ['--source', 'sub b { }', '--no-file-type'],
    changed: { version: 2, fileType: 2, source: 'sub b { }' },
  })
  await live(t, fixture, {
    noun: 'vclgroup',
    add: ['--name', 'site', '--main-vcl', 'main.vcl', '--keep-on-failure=false', '--releases', '7'],
    name: 'site',
    change: [
      ...['--deployments', 'eu', '--keep-on-failure', '--includes', String(file['id'])],
      ...['--releases', '6.0,vinyl-9'],
    ],
    changed: {
      keepOnFailure: true,
      releases: ['6.0', 'vinyl-9'],
      deployments: [{ id: deployment['id'] }],
      includes: [{ id: file['id'] }],
    },
  })
  t.match(await fixture.json('tags', 'get', 'a,b*'), { id: comma['id'] }, 'a name is not a pattern')

  await t.test('the whole body comes as text, from a file or from standard input', async (t) => {
    const data = { name: 'data', mainVCL: { id: file['id'] }, includes: [{ id: file['id'] }] }
    const path = join(folder, 'group.json')
    await writeFile(path, JSON.stringify(data))
    const made = await fixture.json('vg', 'add', '--data', `@${path}`)
    t.match(made, { name: 'data', root: true })
    const flagWins = await fixture.json(
      'vg',
      'update',
      'data',
      '--data',
      '{"name":"x"}',
      '--name',
      'y',
    )
    t.match(flagWins, { name: 'y', includes: [{}] })
    const input = JSON.stringify({ includes: [] })
    const ran = await fixture.cli(['vg', 'update', 'y', '--data', '-', '--json'], { input })
    t.match(JSON.parse(ran.out), { includes: [] })
    for (const bad of ['{', '[]', '@/no/such/file'])
      t.match(await fixture.cli(['vg', 'update', 'y', '--data', bad]), { code: 2, out: '' })
  })

  await t.test('join tokens are shown once; several objects can be deleted at once', async (t) => {
    const made = await fixture.json(
      ...['jointokens', 'add', '--label', 'edge', '--max-uses', '2', '--tags', 'web,new-tag'],
    )
    t.match(made, { token: /\S{20}/, maxUses: 2, tags: [{ name: 'web' }, { name: 'new-tag' }] })
    const { out } = await fixture.cli(['jointokens', 'list'])
    t.match(out, /edge/)
    t.notOk(out.includes(String(made['token'])))
    await fixture.cli(['jointokens', 'add', '--label', 'other'])
    const gone = await fixture.cli(['jointokens', 'delete', 'edge', 'other', '--yes'])
    t.match(gone, { code: 0, out: '' })
    t.strictSame(await fixture.list('jointokens', 'list'), [])
  })

  await t.test('agents get tags by name and lose them again', async (t) => {
    await enrol(api, 'edge-1')
    t.match(await fixture.json('agents', 'update', 'edge-1', '--tags', 'web'), {
      tags: [{ name: 'web' }],
    })
    t.match(await fixture.json('agents', 'update', 'edge-1', '--no-tags'), { tags: [] })
    t.match(await fixture.cli(['agents', 'delete', 'edge-1', '--force', '--yes']), { code: 0 })
  })

  await t.test('domains are found by name, and assigned to groups', async (t) => {
    t.match(await fixture.json('domains', 'add', '--fqdn', 'Shop.Example'), {
      fqdn: 'shop.example',
    })
    await api.expect(201, 'POST', '/vcls', { name: 'shop.vcl', source: 'vcl 4.1;' })
    const words = ['--name', 'shop', '--main-vcl', 'shop.vcl', '--domains', 'shop.example']
    t.match(await fixture.json('vclgroups', 'add', ...words), {
      root: false,
      domains: [{ fqdn: 'shop.example' }],
    })
    t.match(await fixture.cli(['vclgroups', 'list', '--csv']), { out: /shop\.example/ })
    t.match(await fixture.cli(['vclgroups', 'routing', 'shop']), { code: 0, out: '' })
    t.match(await fixture.json('vclgroups', 'routing', 'shop'), { agents: [] })
    t.match(await fixture.json('vclgroups', 'routing', 'shop', '--next'), { agents: [] })
    const inUse = await fixture.cli(['domains', 'delete', 'shop.example', '--yes'])
    t.match(inUse, { code: 1, err: /in use/ })
    t.match(await fixture.json('vclgroups', 'update', 'shop', '--no-domains'), { root: true })
    t.match(await fixture.cli(['domains', 'delete', 'shop.example', '--yes']), { code: 0 })
    t.match(await fixture.cli(['vclgroups', 'delete', 'shop', '--yes']), { code: 0 })
  })

  await t.test('sessions and api logs are listed in every format', async (t) => {
    for (const noun of [
      'agents',
      'tags',
      'files',
      'deployments',
      'domains',
      'vclgroups',
      'jointokens',
    ])
      for (const form of [[], ['--json'], ['--csv']])
        t.match(await fixture.cli([noun, 'list', ...form]), { code: 0, err: '' }, noun)
    t.match(await fixture.list('sessions', 'list'), [{ account: { name: 'root' } }])
    t.match(await fixture.cli(['sessions', 'delete', 'root', '--yes']), {
      code: 1,
      err: /"root" was not found/,
    })
    t.match(await fixture.cli(['apilog', 'list', '--take', '5']), { code: 0, out: /^ID +CREATED/ })
  })
})

void t.test('the coordinator filters, sorts and pages lists', async (t) => {
  const fixture = await startFixture(t)
  for (const name of ['c', 'a', 'b']) await fixture.json('tags', 'add', '--name', `x-${name}`)
  const names = async (...words: string[]) =>
    (await fixture.list('tags', 'list', ...words)).map(({ name }) => String(name).slice(2)).join('')

  t.equal(await names('--filter', 'name=x-*', '--sort', 'name'), 'abc')
  t.equal(await names('--sort', 'name:desc', '--take', '2'), 'cb')
  t.equal(await names('--sort', 'name', '--take', '2,1'), 'bc')
  t.equal(await names('--filter', 'name=x-a,x-b', '--filter', 'static=false'), 'ab')
  const unknown = await fixture.cli(['tags', 'list', '--filter', 'nosuch=1'])
  t.match(unknown, { code: exitCodes.refused, err: /nosuch/ })
  for (const words of [
    ['--take', 'some'],
    ['--take', '2,'],
    ['--sort', 'name:up'],
  ])
    t.match(await fixture.cli(['tags', 'list', ...words]), {
      code: exitCodes.usage,
      err: /expected/,
    })
})

void t.test('output', async (t) => {
  const fixture = await startFixture(t)
  const { api, environment } = fixture
  const names = ["=cmd|' /C calc'!A0", '+1', '-1', '@x', 'a,b "q"', '\u202eevil']
  for (const name of names) await api.expect(201, 'POST', '/tags', { name })

  await t.test('as JSON equals the API’s answer', async (t) => {
    t.strictSame(await fixture.list('tags', 'list'), await api.list('/tags'))
    t.strictSame(await fixture.list('tags', 'list', '--filter', 'name=nothing'), [])
  })

  await t.test('as CSV is safe in a spreadsheet', async (t) => {
    const { out } = await fixture.cli(['tags', 'list', '--csv'])
    t.match(out, /^id,name,static,organization\r\n/)
    t.equal(out.trimEnd().split('\r\n').length, names.length + 1)
    for (const name of names.slice(0, 4)) t.ok(out.includes(`,'${name}`), name)
    t.ok(out.includes('"a,b ""q"""'))
    t.ok(out.includes('\u202eevil'), 'a file gets the stored text')
    const onTerminal = await fixture.cli(['tags', 'list', '--csv'], { terminal: true })
    t.ok(onTerminal.out.includes('\\u202eevil'))
    const empty = await fixture.cli(['tags', 'list', '--csv', '--filter', 'name=nothing'])
    t.equal(empty.out, 'id,name,static,organization\r\n')
  })

  await t.test('of texts for people exists as CSV and JSON too', async (t) => {
    const path = join(fixture.folder, 'x.vcl')
    await writeFile(path, main)
    await fixture.json('files', 'add', path)
    await fixture.cli(['files', 'update', 'x.vcl', '--source', `${main}# two\n`])
    const words = ['files', 'diff', 'x.vcl', '--from', '1', '--to', '2']
    t.match(await fixture.cli([...words, '--csv']), { code: 0, out: /^from,to,diff\r\n1,2,"/ })
    t.match(await fixture.cli([...words, '--json']), { out: /^\{\n {2}"from": 1/ })
    t.match(await fixture.cli(['files', 'diff', fixture.folder, '--csv']), {
      code: 1,
      out: /^name,diff\r\nx\.vcl,"/,
    })
  })

  await t.test(
    'after a list on a terminal includes the total, or that the list is empty',
    async (t) => {
      const tell = async (...words: string[]) =>
        (await fixture.cli(['tags', 'list', ...words], { terminal: true })).err
      t.equal(await tell('--take', '2'), `2 of ${names.length} tags\n`)
      t.equal(await tell('--filter', 'name=nothing'), 'no tags\n')
      t.equal(await tell(), '')
    },
  )

  await t.test('as a table has colour on a terminal only, and no control characters', async (t) => {
    await enrol(api, 'edge-1')
    const plain = await fixture.cli(['agents', 'list'])
    t.match(plain.out, /^ID {2}NAME/)
    t.notMatch(plain.out, /\x1b/)
    const terminal = await fixture.cli(['agents', 'list'], { terminal: true })
    t.match(terminal.out, /\x1b\[1mID\x1b\[22m/)
    for (const variable of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const quiet = { terminal: true, environment: { ...environment, ...variable } }
      t.notMatch((await fixture.cli(['agents', 'list'], quiet)).out, /\x1b/)
    }
    t.notMatch((await fixture.cli(['agents', 'list', '--json'], { terminal: true })).out, /\x1b/)
    const tags = await fixture.cli(['tags', 'list'])
    t.ok(tags.out.includes('\\u202eevil'))
  })

  await t.test('with --verbose lists calls on standard error, without tokens', async (t) => {
    const { err } = await fixture.cli(['tags', 'list', '--verbose', '--take', '1'])
    t.match(err, /^GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/tags\?take=1 200 \d+ ms\n$/)
  })
})

void t.test('on a terminal a deletion asks for confirmation', async (t) => {
  const fixture = await startFixture(t)
  await fixture.json('tags', 'add', '--name', 'web')
  const words = ['tags', 'delete', 'web']

  const no = await fixture.cli(words, { terminal: true, input: 'n\n' })
  t.match(no, { code: exitCodes.refused, err: /Delete tag "web"\? \(y\/N\)/ })
  t.equal((await fixture.list('tags', 'list')).length, 1)
  const ended = await fixture.cli(words, { terminal: true, input: '' })
  t.match(ended, { code: exitCodes.refused, err: /Nothing was done/ })
  t.match(await fixture.cli(words, { terminal: true, input: 'y\n' }), { code: 0 })
  t.strictSame(await fixture.list('tags', 'list'), [])
})

void t.test('a deletion that fails midway reports how many are gone', async (t) => {
  const fixture = await startFixture(t)
  for (const name of ['a', 'b', 'c']) await fixture.json('tags', 'add', '--name', name)
  await fixture.json('deployments', 'add', '--name', 'x', '--tags', 'c')
  const ran = await fixture.cli(['tags', 'delete', 'a', 'b', 'c', '--yes'])
  t.match(ran, { code: exitCodes.refused, err: /; 2 before it are gone \(trace \w+\)\n$/ })
  t.match(await fixture.list('tags', 'list'), [{ name: 'c' }])
})

void t.test('a closed pipe ends the CLI silently, at any length', async (t) => {
  const fixture = await startFixture(t)
  for (let index = 0; index < 50; index += 1)
    await fixture.api.expect(201, 'POST', '/tags', { name: `${index}-${'x'.repeat(240)}` })
  const { startClient: start, endOf } = await import('./run-cli.js')
  const child = start(['tags', 'list', '--json'], fixture.environment)
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdout?.destroy()
  t.strictSame([await endOf(child), err], [0, ''])
})
