/** An origin that fails behind a real cache, and a cache that fails: in backends, problems and events, until both are back. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { logIn } from '../support/api-client.js'
import { heard, listen } from '../support/event-client.js'
import { eventually } from '../support/eventually.js'
import { findFreePort } from '../support/free-port.js'
import { expectDone, startHarness, untilAgent } from './harness.js'

interface ProblemEvent {
  readonly object: { readonly type: string }
  readonly opened: readonly { readonly code: string }[]
  readonly closed: readonly string[]
}

void t.test('a group whose origin fails reports its sick backends', async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  const { api, coordinator } = harness
  await untilAgent(harness, 'Running')
  const port = await findFreePort()
  const start = async () => {
    const server = createServer((_, response) => response.end('here'))
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return () => {
      server.closeAllConnections()
      server.close()
    }
  }
  const stop = await start()
  const mainFile = await api.makeFile(
    'shop.vcl',
    `vcl 4.1;
     probe often { .interval = 0.2s; .timeout = 1s; .window = 3; .threshold = 2; .initial = 2; }
     backend origin { .host = "127.0.0.1"; .port = "${port}"; .probe = often; }
     backend images { .host = "127.0.0.1"; .port = "${port}"; .probe = often; }
     sub vcl_recv { if (req.url ~ "^/images") { set req.backend_hint = images; } }`,
  )
  const deployment = await api.makeDeployment('shop', await api.findTag(harness.agentTag))
  const domain = await api.make('/domains', { fqdn: 'shop.example' })
  const group = await api.make('/vclgroups', {
    name: 'shop',
    mainVCL: { id: mainFile },
    deployments: [{ id: deployment }],
    domains: [{ id: domain }],
  })
  const events = await listen(t, coordinator.base, { token: api.token, query: '?also=backend' })
  expectDone(await api.act(group, 'deploy'))

  const read = async (rest = '') => {
    const { text } = await api.call('GET', `/backends?vclGroup.name=shop&sort=name${rest}`)
    return JSON.parse(text) as { name: string; healthy: number; sick: number }[] // of the API
  }
  const problemsOf = async () => {
    const { text } = await api.call('GET', `/vclgroups/${group}`)
    const { stateName, problems } = JSON.parse(text) as {
      stateName: string
      problems: { code: string; severity: number; message: string }[]
    } // of the API
    return { stateName, problems }
  }
  const untilSick = (sick: number) =>
    eventually(`${sick} are sick`, async () => {
      const rows = await read()
      return rows.length === 2 && rows.filter((row) => row.sick === 1).length === sick
    })
  await untilSick(0)
  t.same(await problemsOf(), { stateName: 'Active', problems: [] })

  stop()
  await untilSick(2)
  const edge = await api.findAgent(harness.agentName)
  const { id, name } = edge ?? { id: 0, name: '' }
  t.match(await read(), [
    { name: 'images', healthy: 0, sick: 1, agents: [{ id, name }], since: /^20\d\d-/ },
    { name: 'origin', healthy: 0, sick: 1, agents: [{ id, name }] },
  ])
  t.match(await problemsOf(), {
    stateName: 'Active',
    problems: [{ code: 'all-backends-sick', severity: 3, objects: [{ type: 'agent', id, name }] }],
  })
  const { data } = await heard(events, 'backend', { id: group })
  t.same(data, { id: group, name: 'shop', organization: null })

  const label = (await harness.cache.adm('backend.list', '*.*')).match(/\S+\.images/)?.[0] ?? ''
  await harness.cache.adm('backend.set_health', label, 'healthy')
  await untilSick(1)
  t.match(await problemsOf(), {
    problems: [{ code: 'backend-sick', message: '1 of 2 backends is sick: origin (1 cache)' }],
  })
  await harness.cache.adm('backend.set_health', label, 'auto')
  await untilSick(2)
  await harness.agent.stop()
  await untilAgent(harness, 'Down')
  t.same(await read(), [], 'the last report of a Down agent does not count')
  const last = await read(`&seenBy=${id}`)
  t.match(last, [
    { name: 'images', healthy: 0, sick: 1, agents: [{ id, name }], since: /^20\d\d-/ },
    { name: 'origin', healthy: 0, sick: 1, agents: [{ id, name }] },
  ])
  t.same(await read(`&seenBy=${id + 1}`), [])
  t.same(await read(`&seenBy=${id + 1},${id}`), last)

  harness.startAgent()
  await untilSick(2)
  t.teardown(await start())
  await untilSick(0)
  t.same(await problemsOf(), { stateName: 'Active', problems: [] })

  await t.test('problems of a failed cache are sent to its readers, and closed', async (t) => {
    const organization = { id: await api.make('/organizations', { name: 'others' }) }
    const [user, password] = ['others', 'others-password']
    await api.make('/accounts', { name: user, password, organization })
    const { token } = await logIn(coordinator.base, { user, password, org: 'others' })
    const theirs = await fetch(`${coordinator.base}/api/v1/backends?seenBy=${id}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    t.same(await theirs.json(), [], 'the agent is shared, but not the groups of others on it')
    const others = await listen(t, coordinator.base, { token })
    const all = await listen(t, coordinator.base, { token: api.token })
    const told = (client: typeof all, type: string, how: 'opened' | 'closed', codes: string[]) =>
      eventually(`${type}: ${how} ${codes.join()}`, () =>
        client.of('problem').some(({ data }) => {
          const { object, ...rest } = data as unknown as ProblemEvent // in every problem event
          const found = rest[how].map((one) => (typeof one === 'string' ? one : one.code))
          return object.type === type && codes.every((code) => found.includes(code))
        }),
      )
    const wentAt = Date.now()
    await harness.cache.stop('SIGKILL')
    await untilAgent(harness, 'Failing')
    t.match(await problemsOf(), { stateName: 'Error' })
    t.same(
      (await problemsOf()).problems.map(({ code }) => code),
      ['below-min', 'place-waiting'],
    )
    await told(all, 'vclgroup', 'opened', ['below-min', 'place-waiting'])
    t.ok(Date.now() - wentAt >= 5_000, 'problems shorter than 5 s are not reported')
    await told(all, 'agent', 'opened', ['cache-failing'])
    await harness.cache.restart()
    await untilAgent(harness, 'Running')
    await told(all, 'vclgroup', 'closed', ['below-min', 'place-waiting'])
    await told(all, 'agent', 'closed', ['cache-failing'])
    t.same(await problemsOf(), { stateName: 'Active', problems: [] })

    await told(others, 'agent', 'closed', ['cache-failing'])
    t.notOk(JSON.stringify(others.events).includes('shop'), 'the cache is shared, not the group')
  })
  expectDone(await api.act(group, 'undeploy'))
  await eventually('the backends are gone with the group', async () => (await read()).length === 0)
})
