/** The life of every kind of object through the client, what it prints, and files from a folder. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { enrol, type Json } from '../coordinator/controller/client.js'
import { startDesk, type Desk } from './desk.js'
import { call, run } from './run-cli.js'

const main = 'vcl 4.1;\nbackend default none;\n'

interface Life {
  readonly noun: string
  readonly add: readonly string[]
  readonly name: string
  readonly change: readonly string[]
  readonly changed: Json
}

async function live(t: Test, desk: Desk, life: Life): Promise<void> {
  const { noun, add, name, change, changed } = life
  const made = await desk.json(noun, 'add', ...add)
  const id = String(made['id'])
  t.match(await desk.json(noun, 'get', id), { id: made['id'] }, `${noun} by id`)
  t.match(await desk.json(noun, 'get', name), { id: made['id'] }, `${noun} by name`)
  t.match(await desk.list(noun, 'list', '--filter', `id=${id}`), [{ id: made['id'] }])
  for (const form of [[], ['--csv']]) {
    const shown = await desk.cli([noun, 'get', id, ...form])
    t.match(shown, { code: 0, err: '' })
    t.ok(shown.out.includes(id), `${noun} get ${form.join('')}`)
  }
  t.match(await desk.json(noun, 'update', name, ...change), changed, `${noun} update`)
  t.match(await desk.cli([noun, 'update', id]), { code: 2, err: /nothing to change/ })
  t.match(await desk.cli([noun, 'delete', id]), { code: 2, err: /--yes/ })
  t.match(await desk.json(noun, 'get', id), { id: made['id'] }, 'nothing was deleted')
  t.match(await desk.cli([noun, 'delete', id, '--yes']), { code: 0, out: '', err: '' })
  const gone = await desk.cli([noun, 'get', id])
  t.match(gone, { code: exitCodes.refused, out: '' })
  t.match(gone.err, /^cachefleet: \d+ was not found \(trace \w{8,}\)\n$/)
}

void t.test('every kind of object is made, read, changed and deleted', async (t) => {
  const desk = await startDesk(t)
  const { api, folder } = desk
  const web = await desk.json('tags', 'add', '--name', 'web')
  const comma = await desk.json('tags', 'add', '--name', 'a,b*')
  const file = await desk.json('files', 'add', '--name', 'main.vcl', '--source', main)
  const deployment = await desk.json('dep', 'add', '--name', 'eu', '--tags', 'web')

  await live(t, desk, {
    noun: 'tags',
    add: ['--name', 'edge'],
    name: 'edge',
    change: ['--name', 'edge2'],
    changed: { name: 'edge2', static: false },
  })
  await live(t, desk, {
    noun: 'deployments',
    add: ['--name', 'us', '--tags', `${String(web['id'])},a\\,b*`, '--min', '1', '--max', '3'],
    name: 'us',
    change: ['--no-max', '--tags', 'web'],
    changed: { max: 1, tags: [{ id: web['id'], name: 'web' }] },
  })
  await live(t, desk, {
    noun: 'files',
    add: ['--name', 'part.vcl', '--source', 'sub a { }', '--file-type', '3'],
    name: 'part.vcl',
    change: ['--source', 'sub b { }', '--no-file-type'],
    changed: { version: 2, fileType: 2, source: 'sub b { }' },
  })
  await live(t, desk, {
    noun: 'vclgroup',
    add: ['--name', 'site', '--main-vcl', 'main.vcl', '--keep-on-failure=false'],
    name: 'site',
    change: ['--deployments', 'eu', '--keep-on-failure', '--includes', String(file['id'])],
    changed: {
      keepOnFailure: true,
      deployments: [{ id: deployment['id'] }],
      includes: [{ id: file['id'] }],
    },
  })
  t.match(await desk.json('tags', 'get', 'a,b*'), { id: comma['id'] }, 'a name is no pattern')

  await t.test('with the whole body as text, from a file, from standard input', async (t) => {
    const data = { name: 'data', mainVCL: { id: file['id'] }, includes: [{ id: file['id'] }] }
    const path = join(folder, 'group.json')
    await writeFile(path, JSON.stringify(data))
    const made = await desk.json('vg', 'add', '--data', `@${path}`)
    t.match(made, { name: 'data', root: true })
    const flagWins = await desk.json(
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
    const ran = await desk.cli(['vg', 'update', 'y', '--data', '-', '--json'], { input })
    t.match(JSON.parse(ran.out), { includes: [] })
    for (const bad of ['{', '[]', '@/no/such/file'])
      t.match(await desk.cli(['vg', 'update', 'y', '--data', bad]), { code: 2, out: '' })
  })

  await t.test('join tokens are shown once; several objects are deleted at once', async (t) => {
    const made = await desk.json(
      ...['jointokens', 'add', '--label', 'edge', '--max-uses', '2', '--tags', 'web,new-tag'],
    )
    t.match(made, { token: /\S{20}/, maxUses: 2, tags: [{ name: 'web' }, { name: 'new-tag' }] })
    const { out } = await desk.cli(['jointokens', 'list'])
    t.match(out, /edge/)
    t.notOk(out.includes(String(made['token'])))
    await desk.cli(['jointokens', 'add', '--label', 'other'])
    const gone = await desk.cli(['jointokens', 'delete', 'edge', 'other', '--yes'])
    t.match(gone, { code: 0, out: '' })
    t.strictSame(await desk.list('jointokens', 'list'), [])
  })

  await t.test('agents get tags by name and lose them again', async (t) => {
    await enrol(api, 'edge-1')
    t.match(await desk.json('agents', 'update', 'edge-1', '--tags', 'web'), {
      tags: [{ name: 'web' }],
    })
    t.match(await desk.json('agents', 'update', 'edge-1', '--no-tags'), { tags: [] })
    t.match(await desk.cli(['agents', 'delete', 'edge-1', '--force', '--yes']), { code: 0 })
  })

  await t.test('domains are found by their name, and given to groups', async (t) => {
    t.match(await desk.json('domains', 'add', '--fqdn', 'Shop.Example'), { fqdn: 'shop.example' })
    await api.expect(201, 'POST', '/vcls', { name: 'shop.vcl', source: 'vcl 4.1;' })
    const words = ['--name', 'shop', '--main-vcl', 'shop.vcl', '--domains', 'shop.example']
    t.match(await desk.json('vclgroups', 'add', ...words), {
      root: false,
      domains: [{ fqdn: 'shop.example' }],
    })
    t.match(await desk.cli(['vclgroups', 'list', '--csv']), { out: /shop\.example/ })
    t.match(await desk.cli(['vclgroups', 'routing', 'shop']), { code: 0, out: '' })
    t.match(await desk.json('vclgroups', 'routing', 'shop'), { agents: [] })
    const inUse = await desk.cli(['domains', 'delete', 'shop.example', '--yes'])
    t.match(inUse, { code: 1, err: /in use/ })
    t.match(await desk.json('vclgroups', 'update', 'shop', '--no-domains'), { root: true })
    t.match(await desk.cli(['domains', 'delete', 'shop.example', '--yes']), { code: 0 })
    t.match(await desk.cli(['vclgroups', 'delete', 'shop', '--yes']), { code: 0 })
  })

  await t.test('sessions and api logs are listed, in every form', async (t) => {
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
        t.match(await desk.cli([noun, 'list', ...form]), { code: 0, err: '' }, noun)
    t.match(await desk.list('sessions', 'list'), [{ account: { name: 'root' } }])
    t.match(await desk.cli(['sessions', 'delete', 'root', '--yes']), {
      code: 1,
      err: /"root" was not found/,
    })
    t.match(await desk.cli(['apilog', 'list', '--take', '5']), { code: 0, out: /^ID +CREATED/ })
  })
})

void t.test('organizations, accounts, users, permissions and API tokens', async (t) => {
  const desk = await startDesk(t)
  const { api, folder } = desk
  const path = join(folder, 'password')
  await writeFile(path, 'long enough a word\n', { mode: 0o600 })
  const withPassword = ['--password-file', path]

  await live(t, desk, {
    noun: 'org',
    add: ['--name', 'blue', '--access-ttl', '60', '--refresh-ttl', '120'],
    name: 'blue',
    change: ['--no-access-ttl', '--no-refresh-ttl', '--locked'],
    changed: { accessTTL: 600, refreshTTL: 3600, locked: true },
  })
  await live(t, desk, {
    noun: 'accounts',
    add: ['carl', ...withPassword],
    name: 'carl',
    change: ['--email', 'carl@example.com', '--locked'],
    changed: { email: 'carl@example.com', locked: true, organizations: [] },
  })
  await desk.json('organizations', 'add', '--name', 'red')
  const anna = await desk.json('accounts', 'add', 'anna', ...withPassword)
  const input = 'long enough a word\n'
  const added = await desk.cli(
    ['accounts', 'add', 'bert', '--password-stdin', '--organization', 'red', '--json'],
    { input },
  )
  t.match(JSON.parse(added.out), { name: 'bert', organizations: [{ name: 'red' }] })
  t.match(await desk.cli(['accounts', 'add', 'x']), { code: 2, err: /--password-stdin/ })
  t.match(await desk.json('org', 'assign', 'red', '--account', 'anna'), { name: 'red' })
  t.match(await desk.cli(['org', 'assign', 'red']), { code: 2, err: /--account/ })
  const [annaUser] = await desk.list('users', 'list', '--filter', 'account.name=anna')
  t.match(annaUser, { account: { id: anna['id'] }, role: 'regular' })
  const id = String(annaUser?.['id'])
  t.match(await desk.json('users', 'update', id, '--role', 'administrator'), {
    role: 'administrator',
  })
  await desk.json('users', 'update', 'anna', '--role', 'regular')
  t.match(await desk.json('users', 'get', 'anna'), { id: annaUser?.['id'] }, 'by its account')

  const permission = await desk.json(
    ...['perm', 'add', '--account', 'anna', '--type', 'tag', '--write', '--organization', 'red'],
  )
  t.match(permission, { type: 'tag', read: true, write: true, organization: { name: 'red' } })
  const number = String(permission['id'])
  t.match(await desk.json('perm', 'update', number, '--no-write'), { write: false })
  t.match(await desk.cli(['permissions', 'list', '--csv']), { out: /anna,red,tag,true,false/ })

  const expire = String(Math.floor(Date.now() / 1000) + 3600)
  const words = ['--label', 'ci', '--expire', expire, '--permissions']
  const token = await desk.json('sessions', 'add', ...words, 'tag:read,file:write')
  const environment = { ...desk.environment, CACHEFLEET_TOKEN: String(token['accessToken']) }
  t.match(await call(['tags', 'list'], { environment }), { code: 0 })
  t.match(await call(['agents', 'list'], { environment }), { code: exitCodes.denied })
  t.match(await call(['whoami'], { environment }), { out: /file:write, tag:read/ })
  t.match(await desk.cli(['whoami']), { out: /permissions +all/ })
  t.match(await desk.cli(['sessions', 'list']), { out: /ci +file:write, tag:read/ })
  t.match(await desk.cli(['sessions', 'add', ...words, 'tag']), { code: 2, err: /TYPE:read/ })

  const ended = await desk.cli(['sessions', 'delete', 'ci', '--yes'])
  t.match(ended, { code: 0 }, 'an API token by its label')
  t.match(await desk.cli(['org', 'unassign', 'red', '--account', 'anna']), { code: 2 })
  t.match(await desk.json('org', 'unassign', 'red', '--account', 'anna', '--yes'), { name: 'red' })
  t.match(await desk.cli(['accounts', 'update', 'anna', ...withPassword]), { code: 0 })
  for (const noun of ['organizations', 'accounts', 'users', 'permissions', 'sessions'])
    for (const form of [[], ['--csv']])
      t.match(await desk.cli([noun, 'list', ...form]), { code: 0, err: '' }, noun)
  t.match(await api.list('/permissions'), [], 'what it might do went with it')
})

void t.test('lists are filtered, sorted and cut by the coordinator', async (t) => {
  const desk = await startDesk(t)
  for (const name of ['c', 'a', 'b']) await desk.json('tags', 'add', '--name', `x-${name}`)
  const names = async (...words: string[]) =>
    (await desk.list('tags', 'list', ...words)).map(({ name }) => String(name).slice(2)).join('')

  t.equal(await names('--filter', 'name=x-*', '--sort', 'name'), 'abc')
  t.equal(await names('--sort', 'name:desc', '--take', '2'), 'cb')
  t.equal(await names('--sort', 'name', '--take', '2,1'), 'bc')
  t.equal(await names('--filter', 'name=x-a,x-b', '--filter', 'static=false'), 'ab')
  const unknown = await desk.cli(['tags', 'list', '--filter', 'nosuch=1'])
  t.match(unknown, { code: exitCodes.refused, err: /nosuch/ })
})

void t.test('what is printed', async (t) => {
  const desk = await startDesk(t)
  const { api, environment } = desk
  const names = ["=cmd|' /C calc'!A0", '+1', '-1', '@x', 'a,b "q"', '\u202eevil']
  for (const name of names) await api.expect(201, 'POST', '/tags', { name })

  await t.test('as JSON is what the API answered', async (t) => {
    t.strictSame(await desk.list('tags', 'list'), await api.list('/tags'))
    t.strictSame(await desk.list('tags', 'list', '--filter', 'name=nothing'), [])
  })

  await t.test('as CSV is safe in a spreadsheet', async (t) => {
    const { out } = await desk.cli(['tags', 'list', '--csv'])
    t.match(out, /^id,name,static,organization\r\n/)
    t.equal(out.trimEnd().split('\r\n').length, names.length + 1)
    for (const name of names.slice(0, 4)) t.ok(out.includes(`,'${name}`), name)
    t.ok(out.includes('"a,b ""q"""'))
    t.ok(out.includes('\u202eevil'), 'a file gets what is stored')
    const onTerminal = await desk.cli(['tags', 'list', '--csv'], { terminal: true })
    t.ok(onTerminal.out.includes('\\u202eevil'))
    const empty = await desk.cli(['tags', 'list', '--csv', '--filter', 'name=nothing'])
    t.equal(empty.out, 'id,name,static,organization\r\n')
  })

  await t.test('of what is a text for people is CSV and JSON for programs too', async (t) => {
    const path = join(desk.folder, 'x.vcl')
    await writeFile(path, main)
    await desk.json('files', 'add', path)
    await desk.cli(['files', 'update', 'x.vcl', '--source', `${main}# two\n`])
    const words = ['files', 'diff', 'x.vcl', '--from', '1', '--to', '2']
    t.match(await desk.cli([...words, '--csv']), { code: 0, out: /^from,to,diff\r\n1,2,"/ })
    t.match(await desk.cli([...words, '--json']), { out: /^\{\n {2}"from": 1/ })
    t.match(await desk.cli(['files', 'diff', desk.folder, '--csv']), {
      ...{ code: 1, out: /^name,diff\r\nx\.vcl,"/ },
    })
  })

  await t.test(
    'beside a list, on a terminal: how many more there are, or that there is none',
    async (t) => {
      const tell = async (...words: string[]) =>
        (await desk.cli(['tags', 'list', ...words], { terminal: true })).err
      t.equal(await tell('--take', '2'), `2 of ${names.length} tags\n`)
      t.equal(await tell('--filter', 'name=nothing'), 'no tags\n')
      t.equal(await tell(), '')
    },
  )

  await t.test('as a table has colour on a terminal only, and no acting character', async (t) => {
    await enrol(api, 'edge-1')
    const plain = await desk.cli(['agents', 'list'])
    t.match(plain.out, /^ID {2}NAME/)
    t.notMatch(plain.out, /\x1b/)
    const terminal = await desk.cli(['agents', 'list'], { terminal: true })
    t.match(terminal.out, /\x1b\[1mID\x1b\[22m/)
    for (const variable of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const quiet = { terminal: true, environment: { ...environment, ...variable } }
      t.notMatch((await desk.cli(['agents', 'list'], quiet)).out, /\x1b/)
    }
    t.notMatch((await desk.cli(['agents', 'list', '--json'], { terminal: true })).out, /\x1b/)
    const tags = await desk.cli(['tags', 'list'])
    t.ok(tags.out.includes('\\u202eevil'))
  })

  await t.test('of calls is told on standard error with --verbose, without tokens', async (t) => {
    const { err } = await desk.cli(['tags', 'list', '--verbose', '--take', '1'])
    t.match(err, /^GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/tags\?take=1 200 \d+ ms\n$/)
  })
})

void t.test('on a terminal a deletion is asked about', async (t) => {
  const desk = await startDesk(t)
  await desk.json('tags', 'add', '--name', 'web')
  const words = ['tags', 'delete', 'web']

  const no = await desk.cli(words, { terminal: true, input: 'n\n' })
  t.match(no, { code: exitCodes.refused, err: /delete tag "web"\? \[y\/N\]/ })
  t.equal((await desk.list('tags', 'list')).length, 1)
  const ended = await desk.cli(words, { terminal: true, input: '' })
  t.match(ended, { code: exitCodes.refused, err: /nothing was done/ })
  t.match(await desk.cli(words, { terminal: true, input: 'y\n' }), { code: 0 })
  t.strictSame(await desk.list('tags', 'list'), [])
})

void t.test('a deletion that ends early says how far it came', async (t) => {
  const desk = await startDesk(t)
  for (const name of ['a', 'b', 'c']) await desk.json('tags', 'add', '--name', name)
  await desk.json('deployments', 'add', '--name', 'x', '--tags', 'c')
  const ran = await desk.cli(['tags', 'delete', 'a', 'b', 'c', '--yes'])
  t.match(ran, { code: exitCodes.refused, err: /; 2 before it are gone \(trace \w+\)\n$/ })
  t.match(await desk.list('tags', 'list'), [{ name: 'c' }])
})

void t.test('a closed pipe ends the client silently, at any length', async (t) => {
  const desk = await startDesk(t)
  for (let index = 0; index < 50; index += 1)
    await desk.api.expect(201, 'POST', '/tags', { name: `${index}-${'x'.repeat(240)}` })
  const { startClient: start, endOf } = await import('./run-cli.js')
  const child = start(['tags', 'list', '--json'], desk.environment)
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdout?.destroy()
  t.strictSame([await endOf(child), err], [0, ''])
})

void t.test('files', async (t) => {
  const desk = await startDesk(t)
  const folder = join(desk.folder, 'site')
  await mkdir(folder)
  const put = (name: string, text: string | Buffer) => writeFile(join(folder, name), text)
  await put('main.vcl', `${main}include "a.vcl";\n`)
  await put('a.vcl', 'sub a_one { }\n')
  await put('b.vcl', '# b\n')
  await put('notes.txt', 'no VCL')
  const upload = (...words: string[]) => desk.list('files', 'upload', folder, ...words)
  const actions = (rows: readonly Json[]) =>
    rows.map(({ name, action, version }) => `${String(name)} ${String(action)} ${String(version)}`)

  await t.test(
    'come from a path, from standard input, and as base64 when they are no text',
    async (t) => {
      const path = join(folder, 'main.vcl')
      const ran = await run(['files', 'add', path, '--json', '--name', 'x.vcl'], desk)
      t.match(JSON.parse(ran.out), {
        name: 'x.vcl',
        encoded: false,
        source: /^vcl 4.1/,
        fileType: 1,
      })
      const input = 'sub piped { }\n'
      const piped = await desk.cli(['files', 'add', '-', '--name', 'piped.vcl', '--json'], {
        input,
      })
      t.match(JSON.parse(piped.out), { source: input, fileType: 2 })
      const bytes = Buffer.from([0, 255, 1])
      await writeFile(join(desk.folder, 'logo.png'), bytes)
      t.match(await desk.json('files', 'add', join(desk.folder, 'logo.png')), {
        name: 'logo.png',
        encoded: true,
        source: bytes.toString('base64'),
      })
      t.match(await desk.cli(['files', 'add', '-'], { input }), { code: 2, err: /--name/ })
      t.match(await desk.cli(['files', 'add', '/no/such/file']), { code: 2, err: /no such file/ })
      t.match(await desk.cli(['files', 'get', 'piped.vcl']), {
        out: /\nsource:\nsub piped|sub piped/,
      })
      t.match(await desk.cli(['files', 'delete', 'x.vcl', 'piped.vcl', 'logo.png', '--yes']), {
        code: 0,
      })
    },
  )

  await t.test('of a folder are uploaded once, then only what changed', async (t) => {
    t.strictSame(actions(await upload()), [
      'a.vcl created 1',
      'b.vcl created 1',
      'main.vcl created 1',
    ])
    t.match(await desk.cli(['files', 'diff', folder]), { code: 0, out: '' })
    await put('a.vcl', 'sub a_one { }\n# changed\n')
    const diff = await desk.cli(['files', 'diff', folder])
    t.equal(diff.code, 1)
    t.match(
      diff.out,
      /^--- coordinator\/a\.vcl\n\+\+\+ folder\/a\.vcl\n@@ .*\n sub a_one \{ \}\n\+# changed\n$/,
    )
    t.match(await upload(), [{ action: 'updated', version: 2 }, { action: 'unchanged' }, {}])
    t.match(await desk.list('files', 'versions', 'a.vcl'), [{ version: 1 }, { version: 2 }])
    const between = await desk.cli(['files', 'diff', 'a.vcl', '--from', '1', '--to', '2'])
    t.match(between, { code: 0, out: /^\+# changed/m })
  })

  await t.test('are given back as they are stored, each version of them', async (t) => {
    t.match(await desk.cli(['files', 'get', 'a.vcl', '--content']), {
      ...{ code: 0, out: 'sub a_one { }\n# changed\n', err: '' },
    })
    t.match(await desk.cli(['files', 'versions', 'a.vcl', '1', '--content']), {
      ...{ code: 0, out: 'sub a_one { }\n' },
    })
    t.match(await desk.json('files', 'versions', 'a.vcl', '1'), { version: 1 })
    t.match(await desk.cli(['files', 'versions', 'a.vcl', '9']), { code: 1, err: /not found/ })
    t.match(await desk.cli(['files', 'versions', 'a.vcl', 'x']), { code: 2, err: /no version/ })
    t.match(await desk.cli(['files', 'versions', 'a.vcl', '--content']), { code: 2 })
  })

  await t.test('that the folder lost are deleted only when asked, and never in use', async (t) => {
    await desk.json('vclgroups', 'add', '--name', 'site', '--main-vcl', 'main.vcl')
    await rm(join(folder, 'b.vcl'))
    await rm(join(folder, 'main.vcl'))
    t.strictSame(actions(await upload()), ['a.vcl unchanged 2'])
    t.equal((await desk.list('files', 'list')).length, 3)
    t.strictSame(actions(await upload('--delete')), [
      'a.vcl unchanged 2',
      'b.vcl deleted 1',
      'main.vcl in use 1',
    ])
    t.equal((await desk.list('files', 'list')).length, 2)
    const empty = join(desk.folder, 'empty')
    await mkdir(empty)
    const refused = await desk.cli(['files', 'upload', empty, '--delete'])
    t.match(refused, { code: exitCodes.usage, err: /has no \*\.vcl/ })
    t.equal((await desk.list('files', 'list')).length, 2, 'nothing was deleted')
  })
})
