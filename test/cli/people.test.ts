/** Who may do what, through the client: organizations, accounts, users, permissions, API tokens. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { startDesk } from './desk.js'
import { live } from './object-life.js'
import { call } from './run-cli.js'

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
  const give = ['organizations', 'update', 'red', '--quotas', 'files=100,fileBytes=5000']
  t.match(await desk.json(...give), { quotas: { files: 100, fileBytes: 5000 } })
  t.match(await desk.cli(['org', 'update', 'red', '--quotas', 'files']), {
    code: 2,
    err: /--quotas has "files"; NAME=NUMBER is right/,
  })
  t.match(await desk.json('organizations', 'update', 'red', '--no-quotas'), { quotas: null })
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
