/** The health endpoint for load balancers on a real cache, through faults of the cache, its agent and its coordinator. */
import t from 'tap'
import { answering, quoted } from '../support/observe-cache.js'
import { eventually } from '../support/eventually.js'
import { findFreePort } from '../support/free-port.js'
import { invalidate, untilEnded } from './invalidation-calls.js'
import { deploySite, makeSite, startHarness, untilAgent } from './harness.js'

void t.test('the health of a cache', async (t) => {
  const listen = `127.0.0.1:${await findFreePort()}`
  const harness = await startHarness(t, {
    heartbeatSeconds: 1,
    agentWords: ['--health-listen', listen],
  })
  const { api, cache, link } = harness
  const readHealth = async () => {
    const answer = await fetch(`http://${listen}/health`)
    const { status, reasons } = (await answer.json()) as { status: string; reasons: string[] }
    return { code: answer.status, status, reasons }
  }
  const healthy = { code: 200, status: 'healthy', reasons: [] }
  const untilHealth = (...reasons: string[]) =>
    eventually(`its health is ${reasons.join() || 'good'}`, async () => {
      const health = await readHealth().catch(() => null)
      return health?.reasons.join() === reasons.join()
    })
  await untilAgent(harness, 'Running')
  await deploySite(harness, await makeSite(harness, 'one'))
  const { id = 0 } = (await api.findAgent('edge')) ?? {}
  await untilHealth()
  t.same(await readHealth(), healthy)

  await t.test('unhealthy: the child is stopped', async () => {
    await cache.adm('stop')
    await untilHealth('cache-stopped')
    await cache.adm('start')
    await untilHealth()
  })

  await t.test('unhealthy: the cache serves another VCL, until the agent repairs it', async () => {
    await harness.agent.stop()
    await cache.adm('vcl.inline', 'handmade', quoted(answering('handmade')))
    await cache.adm('vcl.use', 'handmade')
    harness.startAgent(['--health-listen', listen, '--read-only'])
    await untilHealth('other-vcl')
    await harness.agent.stop()
    harness.startAgent()
    await untilHealth()
  })

  await t.test('unhealthy: the cache is gone', async () => {
    await cache.stop('SIGKILL')
    await untilHealth('cache-unreachable')
    await cache.restart()
    await untilHealth()
  })

  await t.test('healthy: the loss of the coordinator changes nothing', async (t) => {
    link.setFault('refuse')
    await eventually('the agent is Down', async () => {
      return (await api.findAgent('edge'))?.stateName === 'Down'
    })
    t.same(await readHealth(), healthy)
    link.setFault('none')
    await untilAgent(harness, 'Running')
  })

  await t.test('unhealthy: missed invalidations, while the link is up', async (t) => {
    link.setFault('refuse')
    await untilAgent(harness, 'Down')
    const ban = { type: 'ban', expression: 'obj.status != 0', target: { all: true } }
    const missed = await invalidate(api, ban)
    let release = (): void => undefined
    const gate = new Promise<void>((resume) => (release = resume))
    const held = { name: 'ban', moment: 'before', fate: 'pass' } as const
    const sprung = harness.port.trap({ ...held, act: () => gate })
    link.setFault('none')
    await untilHealth('behind')
    t.match(await readHealth(), { code: 503, status: 'unhealthy' })
    link.setFault('refuse')
    await untilHealth()
    link.setFault('none')
    release()
    await sprung
    t.match(await untilEnded(api, missed), { stateName: 'Completed', done: 1 })
    await untilHealth()
  })

  await t.test('unhealthy: drained, also after a restart without the coordinator', async (t) => {
    const drain = await api.call('PUT', `/agents/${id}/drain`, { reason: 'kernel update' })
    t.equal(drain.status, 200)
    await untilHealth('draining')
    link.setFault('refuse')
    await harness.agent.stop()
    harness.startAgent()
    await untilHealth('draining')
    link.setFault('none')
    await untilAgent(harness, 'Running')
    t.equal((await api.call('PUT', `/agents/${id}/undrain`)).status, 200)
    await untilHealth()
  })
})
