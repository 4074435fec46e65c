/** Names in place of ids: their organization, their form, and how many at once. */
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { nameFlags } from '../../src/cli/name-flags.js'
import type { Json } from '../coordinator/controller/client.js'
import { addOrganization } from '../coordinator/store/rows.js'
import { startFixture } from './fixture.js'

void t.test('names stand for ids', async (t) => {
  const fixture = await startFixture(t)
  const { api } = fixture
  const own = await fixture.json('tags', 'add', '--name', 'web')
  const organizations = [
    await addOrganization(api.service.store.queries, 'acme'),
    await addOrganization(api.service.store.queries, 'blue'),
  ]
  const others: Json[] = []
  for (const id of organizations)
    for (const name of ['web', 'edge'])
      others.push(await api.expect(201, 'POST', '/tags', { name, organization: { id } }))

  await t.test('the caller’s own object wins over others of the same name', async (t) => {
    t.match(await fixture.json('tags', 'get', 'web'), { id: own['id'] })
    const id = String(others[0]?.['id'])
    t.match(await fixture.json('tags', 'get', id), { organization: { name: 'acme' } })
  })

  await t.test('a name that several others have is refused with all their ids', async (t) => {
    const ambiguous = await fixture.cli(['tags', 'get', 'edge'])
    t.equal(ambiguous.code, exitCodes.refused)
    for (const { id, name } of others)
      if (name === 'edge') t.ok(ambiguous.err.includes(String(id)), 'both are listed')
    t.match(ambiguous.err, /of organization acme\).*\(of organization blue\)/)
  })

  await t.test('an unknown name is reported', async (t) => {
    const unknown = await fixture.cli(['deployments', 'add', '--name', 'x', '--tags', 'nosuch,web'])
    t.match(unknown, {
      code: exitCodes.refused,
      err: /^cachefleet: tag "nosuch" was not found \(trace \w{32}\)\n$/,
    })
    const asJson = await fixture.cli(['tags', 'get', 'nosuch', '--json'])
    t.match(JSON.parse(asJson.err), {
      traceId: /^\w{32}$/,
      errorKey: 'tag',
      errorMsg: 'tag "nosuch" was not found',
    })
  })

  await t.test('a name that looks like an id is written after a backslash', async (t) => {
    const year = await fixture.json('tags', 'add', '--name', '2024')
    const slashed = await fixture.json('tags', 'add', '--name', '\\2024')
    t.match(await fixture.cli(['tags', 'get', '2024']), { code: 1, err: /2024 was not found/ })
    t.match(await fixture.json('tags', 'get', '\\2024'), { id: year['id'] })
    t.match(await fixture.json('tags', 'get', '\\\\2024'), { id: slashed['id'] })
    t.match(await fixture.json('dep', 'add', '--name', 'y', '--tags', '\\2024,web'), {
      tags: [{ id: own['id'] }, { id: year['id'] }],
    })
  })

  await t.test('a domain is found in any spelling', async (t) => {
    await fixture.json('domains', 'add', '--fqdn', '*.münchen.example')
    for (const typed of ['*.MÜNCHEN.example', '*.xn--mnchen-3ya.example', '*.münchen.example.'])
      t.match(await fixture.json('domains', 'get', typed), { fqdn: '*.xn--mnchen-3ya.example' })
  })

  await t.test('hundreds of names take as few calls as URLs hold', async (t) => {
    const names = Array.from({ length: 60 }, (_, index) => `${index} ${'ü'.repeat(40)}`)
    for (const name of names) await api.expect(201, 'POST', '/tags', { name })
    const ran = await fixture.cli(['tags', 'delete', ...names, '--yes', '--verbose'])
    t.equal(ran.code, 0, ran.err)
    const lists = ran.err.split('\n').filter((line) => line.startsWith('GET '))
    t.ok(lists.length > 1 && lists.length < 10, `${lists.length} calls`)
  })
})

void t.test('a parameter in an API message is replaced by its CLI flag', (t) => {
  const rewritten = (message: string) => nameFlags(message)
  t.equal(rewritten('in use; ?force=true makes it anyway'), 'in use; --force makes it anyway')
  t.equal(rewritten('(?waitMore=60s)'), '(--wait-more 60s)')
  t.equal(rewritten('say ?agents=all.'), 'say --agents all.')
  const own = 'urls[0]: https://shop.example/?page=1&force=true is too long'
  t.equal(rewritten(own), own, 'a URL of the caller is left alone')
  t.end()
})
