/**
 * Two coordinators with a real cache and its agent at each: the bus or the store fails for long, during a deploy, repeatedly,
 * or comes back with the data of yesterday.
 */
import t, { type Test } from 'tap'
import { answering, fetchMark } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import {
  checkTraffic,
  deployMark,
  duringDeploy,
  readReadiness,
  startSite,
  untilDiscarded,
  untilReady,
  untilServed,
  untilSettled,
  type End,
  type PairedSite,
} from './coordinator-pair.js'
import { parallel } from '../support/parallel.js'
import { deploySite, editSite, expectDone, readRefusal, untilAgent } from './harness.js'

/** In parallel: each test has its own servers, coordinators and caches, and mostly waits. */
t.jobs = 2

void t.test('bus and store fail', parallel(), async (t) => {
  const started = await startSite(t)
  const { pair, here, there, site } = started

  await t.test('without the bus, deploys still work, but later', async () => {
    await pair.nats.stop()
    await editSite(here.coordinator, site, 'without-bus')
    await deploySite(here.coordinator, site)
    await untilServed(pair, site, 'without-bus')

    await eventually('both report that they are not ready', async () => {
      return (await readReadiness(pair)).every((status) => status === 503)
    })
    await pair.nats.start()
    await untilReady(pair)
    await deployMark(site, there, 'bus-is-back')
    await untilServed(pair, site, 'bus-is-back')
  })

  await t.test(
    'during a long outage of the store nothing changes, and then deploys work again',
    async (t) => {
      const { api } = there.coordinator
      const before = await readRevisions(api)
      await pair.postgres.stop()
      await eventually('both report that they are not ready', async () => {
        return (await readReadiness(pair)).every((status) => status === 503)
      })
      const links = [here.link, there.link]
      for (const link of links) link.forget()
      // Five heartbeats of each agent: three missing ones would make an agent Down if the store were available.
      await eventually('both agents have sent heartbeats', () => {
        return links.reduce((sum, link) => sum + link.count('heartbeat'), 0) >= 10
      })
      for (const { cache } of [here, there])
        t.same(await fetchMark(cache), { status: 200, mark: 'bus-is-back' })

      await pair.postgres.start()
      await untilReady(pair)
      await untilServed(pair, site, 'bus-is-back')
      t.same(await readRevisions(api), before)
      await deployMark(site, here, 'store-is-back')
      await untilServed(pair, site, 'store-is-back')
    },
  )

  await t.test('if the store fails during a deploy, the deploy is discarded', async (t) => {
    await editSite(here.coordinator, site, 'discarded')
    const gone = there.link.trap({
      ...duringDeploy('applyReport', site, there.coordinator.api),
      act: () => pair.postgres.stop(),
    })
    const answer = here.coordinator.api.act(site.id, 'deploy')
    await gone

    readRefusal(await answer, 503)
    await pair.postgres.start()
    await untilDiscarded(there.coordinator.api, site)
    await untilServed(pair, site, 'store-is-back')
    t.equal((await here.coordinator.api.readHistory(site.id))[0]?.revision, null)
  })

  await t.test('no request failed meanwhile', (t) => checkTraffic(t, started))
})

void t.test('repeated outages, and a restored store', parallel(), async (t) => {
  const started = await startSite(t)
  const { pair, here, there, site } = started

  await t.test('deploys still work while the bus fails repeatedly', (t) =>
    checkGoingOn(t, started, pair.nats),
  )

  await t.test('deploys still work while the store fails repeatedly', (t) =>
    checkGoingOn(t, started, pair.postgres),
  )

  await t.test('no request failed meanwhile', (t) => checkTraffic(t, started))

  await t.test(
    'with yesterday’s store under running coordinators, the agents are locked',
    async (t) => {
      const { api } = here.coordinator
      await pair.postgres.stop()
      const restore = await pair.postgres.keep()
      await pair.postgres.start()
      await untilReady(pair)
      await deployMark(site, here, 'of-today')
      await untilServed(pair, site, 'of-today')

      await pair.postgres.stop()
      await restore()
      await pair.postgres.start()
      await untilReady(pair)
      for (const { agentName, cache } of [here, there]) {
        const { id } = await untilAgent(there.coordinator, 'Locked', agentName)
        t.match(
          (await api.call('GET', `/agents/${id}`)).text,
          /holds revision \d+, the coordinator knows/,
        )
        readRefusal(await api.call('PUT', `/agents/${id}/params/default_ttl`, { value: '77' }), 423)
        t.same(await fetchMark(cache), { status: 200, mark: 'of-today' })
      }
      for (const { id } of await api.listAgents())
        expectDone(await api.call('PUT', `/agents/${id}/unlock`))
      await untilServed(pair, site, 'they-go-on')
    },
  )
})

/** Two outages, each as long as two deploys take or fail. */
async function checkGoingOn(
  t: Test,
  { pair, here, there, site }: PairedSite,
  server: { stop(): Promise<void>; start(): Promise<void> },
): Promise<void> {
  const statuses: number[] = []
  let isOn = true
  const run = async (end: End): Promise<void> => {
    const { api } = end.coordinator
    for (let count = 0; isOn; count++) {
      const source = answering(`${end.agentName}-${count}`)
      await api.call('PUT', `/files/${site.file}`, { source })
      statuses.push((await api.act(site.id, 'deploy', '?wait=10')).status)
    }
  }
  const running = Promise.all([run(here), run(there)])
  for (const step of ['stop', 'start', 'stop', 'start'] as const) {
    const before = statuses.length
    await eventually(`deploys, then ${step}`, () => statuses.length >= before + 2)
    await server[step]()
  }
  isOn = false
  await running
  t.same(
    statuses.filter((status) => ![200, 202, 409, 503].includes(status)),
    [],
    'a failed deploy was answered with the reason',
  )
  t.ok(statuses.includes(200))
  await untilReady(pair)
  await untilSettled(pair, site)
  await deployMark(site, there, 'they-go-on')
  await untilServed(pair, site, 'they-go-on')
}

/** The desired revision of each agent. */
async function readRevisions(api: ApiClient): Promise<number[]> {
  return (await api.listAgents()).map(({ config }) => config.desired.revision)
}
