/** Access control in the CLI: organizations, accounts, users, permissions, API tokens. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { startFixture } from './fixture.js'
import { live } from './object-life.js'
import { call } from './run-cli.js'

void t.test('organizations, accounts, users, permissions and API tokens', async (t) => {
  const fixture = await startFixture(t)
  const { api, folder } = fixture
  const path = join(folder, 'password')
  await writeFile(path, 'long enough a word\n', { mode: 0o600 })
  const withPassword = ['--password-file', path]

  await live(t, fixture, {
    noun: 'org',
    add: ['--name', 'blue', '--access-ttl', '60', '--refresh-ttl', '120'],
    name: 'blue',
    change: ['--no-access-ttl', '--no-refresh-ttl', '--locked'],
    changed: { accessTTL: 600, refreshTTL: 3600, locked: true },
  })
  await live(t, fixture, {
    noun: 'accounts',
    add: ['carl', ...withPassword],
    name: 'carl',
    change: ['--email', 'carl@example.com', '--locked'],
    changed: { email: 'carl@example.com', locked: true, organizations: [] },
  })
  await fixture.json('organizations', 'add', '--name', 'red')
  const give = ['organizations', 'update', 'red', '--quotas', 'files=100,fileBytes=5000']
  t.match(await fixture.json(...give), { quotas: { files: 100, fileBytes: 5000 } })
  t.match(await fixture.cli(['org', 'update', 'red', '--quotas', 'files']), {
    code: 2,
    err: /--quotas has "files"; expected NAME=NUMBER/,
  })
  t.match(await fixture.json('organizations', 'update', 'red', '--no-quotas'), { quotas: null })
  const anna = await fixture.json('accounts', 'add', 'anna', ...withPassword)
  const input = 'long enough a word\n'
  const added = await fixture.cli(
    ['accounts', 'add', 'bert', '--password-stdin', '--organization', 'red', '--json'],
    { input },
  )
  t.match(JSON.parse(added.out), { name: 'bert', organizations: [{ name: 'red' }] })
  t.match(await fixture.cli(['accounts', 'add', 'x']), { code: 2, err: /--password-stdin/ })
  t.match(await fixture.json('org', 'assign', 'red', '--account', 'anna'), { name: 'red' })
  t.match(await fixture.cli(['org', 'assign', 'red']), { code: 2, err: /--account/ })
  const [annaUser] = await fixture.list('users', 'list', '--filter', 'account.name=anna')
  t.match(annaUser, { account: { id: anna['id'] }, role: 'regular' })
  const id = String(annaUser?.['id'])
  t.match(await fixture.json('users', 'update', id, '--role', 'administrator'), {
    role: 'administrator',
  })
  await fixture.json('users', 'update', 'anna', '--role', 'regular')
  t.match(await fixture.json('users', 'get', 'anna'), { id: annaUser?.['id'] }, 'by its account')

  const permission = await fixture.json(
    ...['perm', 'add', '--account', 'anna', '--type', 'tag', '--write', '--organization', 'red'],
  )
  t.match(permission, { type: 'tag', read: true, write: true, organization: { name: 'red' } })
  const number = String(permission['id'])
  t.match(await fixture.json('perm', 'update', number, '--no-write'), { write: false })
  t.match(await fixture.cli(['permissions', 'list', '--csv']), { out: /anna,red,tag,true,false/ })

  const expire = String(Math.floor(Date.now() / 1000) + 3600)
  const words = ['--label', 'ci', '--expire', expire, '--permissions']
  const token = await fixture.json('sessions', 'add', ...words, 'tag:read,file:write')
  const environment = { ...fixture.environment, CACHEFLEET_TOKEN: String(token['accessToken']) }
  t.match(await call(['tags', 'list'], { environment }), { code: 0 })
  t.match(await call(['agents', 'list'], { environment }), { code: exitCodes.denied })
  t.match(await call(['whoami'], { environment }), { out: /file:write, tag:read/ })
  t.match(await fixture.cli(['whoami']), { out: /permissions +all/ })
  t.match(await fixture.cli(['sessions', 'list']), { out: /ci +file:write, tag:read/ })
  t.match(await fixture.cli(['sessions', 'add', ...words, 'tag']), { code: 2, err: /TYPE:read/ })

  const ended = await fixture.cli(['sessions', 'delete', 'ci', '--yes'])
  t.match(ended, { code: 0 }, 'an API token by its label')
  t.match(await fixture.cli(['org', 'unassign', 'red', '--account', 'anna']), { code: 2 })
  t.match(await fixture.json('org', 'unassign', 'red', '--account', 'anna', '--yes'), {
    name: 'red',
  })
  t.match(await fixture.cli(['accounts', 'update', 'anna', ...withPassword]), { code: 0 })
  for (const noun of ['organizations', 'accounts', 'users', 'permissions', 'sessions'])
    for (const form of [[], ['--csv']])
      t.match(await fixture.cli([noun, 'list', ...form]), { code: 0, err: '' }, noun)
  t.match(await api.list('/permissions'), [], 'the permissions went with the user')
})
