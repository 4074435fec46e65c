/**
 * Two coordinators with a real cache and its agent at each: calls on either, and what happens when a coordinator is killed
 * or sleeps in the middle of a deploy, when the bus or the store goes away.
 */
import t, { type Test } from 'tap'
import { answering, fetchMark } from '../agent/cache-sight.js'
import type { AgentView, ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import {
  apisOf,
  readReadiness,
  startPair,
  tag,
  untilDiscarded,
  untilIdle,
  untilReady,
  untilServed,
  untilSettled,
  type End,
} from './coordinator-pair.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readRefusal,
  startTraffic,
  untilAgent,
} from './stand.js'

const pair = await startPair(t)
const { here, there } = pair
const site = await makeSite(here.coordinator, 'site', { tag, min: 2, max: 2 })
await deploySite(here.coordinator, site)
const traffic = [here, there].map(({ cache }) => startTraffic(t, cache))

await t.test('either shows the same and serves calls about agents of the other', async (t) => {
  await untilServed(pair, site, 'site-first')
  const [left, right] = await Promise.all(apisOf(pair).map((api) => api.listAgents()))
  t.same(left?.map(withoutHeartbeat), right?.map(withoutHeartbeat))
  t.equal(left?.length, 2)
  for (const api of apisOf(pair))
    for (const { agentName } of [here, there]) {
      const agent = await api.findAgent(agentName)
      const vcls = await api.call('GET', `/agents/${agent?.id ?? 0}/vcls`)
      t.equal(vcls.status, 200)
      t.match(vcls.text, `cf-${site.id}-`)
    }
})

await t.test('a deploy by either reaches the agents of both', async () => {
  for (const { coordinator, agentName } of [there, here]) {
    await editSite(coordinator, site, `by-${agentName}`)
    await deploySite(coordinator, site)
    await untilServed(pair, site, `by-${agentName}`)
  }
})

await t.test('what one refuses the other tells', async (t) => {
  await editSite(here.coordinator, site, 'never')
  await here.coordinator.api.editFile(site.file, 'vcl 4.1; nonsense')
  readRefusal(await here.coordinator.api.act(site.id, 'deploy'), 422)

  const [entry] = await there.coordinator.api.readHistory(site.id)
  t.match(entry, { revision: null, result: /site\.vcl line 1/ })
})

await t.test(
  'killed before the decision: the other discards, and the old VCL serves',
  async (t) => {
    const before = await deployMark(there, 'before-kill')
    await editSite(there.coordinator, site, 'discarded')
    const killed = there.link.trap({
      ...{ name: 'applyReport', moment: 'before', fate: 'pass' },
      act: async () => {
        await here.coordinator.daemon.kill()
      },
    })
    const answer = here.coordinator.api.act(site.id, 'deploy').catch(() => null)
    await killed

    t.equal(await answer, null, 'nobody was left to answer')
    await untilDiscarded(there.coordinator.api, site)
    await untilServed(pair, site, before, [there.coordinator.api])
    await t.test('and the other deploys to all agents, which came to it', async () => {
      await deployMark(there, 'by-the-other')
      await untilServed(pair, site, 'by-the-other', [there.coordinator.api])
    })
    await here.coordinator.start()
    await untilServed(pair, site, 'by-the-other')
  },
)

await t.test('killed after the decision: it completes with the other', async (t) => {
  await editSite(there.coordinator, site, 'completed')
  const killed = there.link.trap({
    // Since the first kill both agents are here: two of phase one, then the switch.
    ...{ name: 'apply', nth: 3, moment: 'before', fate: 'pass' },
    act: async () => {
      await here.coordinator.daemon.kill()
    },
  })
  const answer = here.coordinator.api.act(site.id, 'deploy').catch(() => null)
  await killed

  t.equal(await answer, null)
  await untilServed(pair, site, 'completed', [there.coordinator.api])
  const [entry] = await there.coordinator.api.readHistory(site.id)
  t.match(entry, { result: 'ok' })
  await here.coordinator.start()
  await untilServed(pair, site, 'completed')
})

await t.test('a coordinator that slept through its deploy writes nothing', async (t) => {
  await editSite(there.coordinator, site, 'slept')
  const asleep = there.link.trap({
    ...{ name: 'applyReport', moment: 'before', fate: 'pass' },
    act: () => {
      here.coordinator.daemon.signal('SIGSTOP')
    },
  })
  const answer = here.coordinator.api.act(site.id, 'deploy')
  await asleep
  await untilDiscarded(there.coordinator.api, site)

  here.coordinator.daemon.signal('SIGCONT')

  t.match(readRefusal(await answer, 503), /another coordinator took this deploy over/)
  await untilServed(pair, site, 'completed')
  t.equal((await there.coordinator.api.readHistory(site.id))[0]?.revision, null)
})

await t.test('without the bus deploys go on, later', async () => {
  await pair.nats.stop()
  await editSite(here.coordinator, site, 'without-bus')
  await deploySite(here.coordinator, site)
  await untilServed(pair, site, 'without-bus')

  await eventually('they are not ready without', async () => {
    return (await readReadiness(pair)).every((status) => status === 503)
  })
  await pair.nats.start()
  await untilReady(pair)
  await deployMark(there, 'bus-is-back')
  await untilServed(pair, site, 'bus-is-back')
})

await t.test(
  'while the store is away for long nothing moves, then deploys work again',
  async (t) => {
    const { api } = there.coordinator
    const before = await readRevisions(api)
    await pair.postgres.stop()
    await eventually('they are not ready without', async () => {
      return (await readReadiness(pair)).every((status) => status === 503)
    })
    there.link.forget()
    // Both agents, five heartbeats each: three make an agent Down where the store is there.
    await eventually('a long time', () => there.link.count('heartbeat') >= 10)
    for (const { cache } of [here, there])
      t.same(await fetchMark(cache), { status: 200, mark: 'bus-is-back' })

    await pair.postgres.start()
    await untilReady(pair)
    await untilServed(pair, site, 'bus-is-back')
    t.same(await readRevisions(api), before)
    await deployMark(here, 'store-is-back')
    await untilServed(pair, site, 'store-is-back')
  },
)

await t.test('when the store goes away in mid-deploy the deploy is discarded', async (t) => {
  await editSite(here.coordinator, site, 'discarded')
  const gone = there.link.trap({
    ...{ name: 'applyReport', moment: 'before', fate: 'pass' },
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

await t.test('deploys go on while the bus goes and comes', (t) => checkGoingOn(t, pair.nats))

await t.test('deploys go on while the store goes and comes', (t) => checkGoingOn(t, pair.postgres))

await t.test('two deploys of the group at once, by either', async (t) => {
  for (let round = 0; round < 3; round++) {
    await editSite(here.coordinator, site, `at-once-${round}`)
    const answers = await Promise.all(apisOf(pair).map((api) => api.act(site.id, 'deploy')))
    for (const answer of answers) expectDone(answer)
    t.equal(await untilSettled(pair, site), `at-once-${round}`)
  }
})

await t.test('in all of this no request failed', async (t) => {
  for (const one of traffic) {
    t.same([...one.failures], [])
    t.notOk(one.marks.has('never') || one.marks.has('discarded') || one.marks.has('slept'))
    await one.stop()
  }
})

await t.test('a deploy and an undeploy at once, by either', async (t) => {
  for (let round = 0; round < 3; round++) {
    await editSite(here.coordinator, site, `or-nothing-${round}`)
    const [one, two] = round % 2 === 0 ? [here, there] : [there, here]
    const answers = await Promise.all([
      one.coordinator.api.act(site.id, 'deploy'),
      two.coordinator.api.act(site.id, 'undeploy'),
    ])
    for (const answer of answers) expectDone(answer)
    const isDeployed = (await here.coordinator.api.readGroup(site.id)).deployed
    const mark = isDeployed ? await untilSettled(pair, site) : await untilIdle(pair)
    t.equal(mark, isDeployed ? `or-nothing-${round}` : 'idle')
  }
  await deployMark(there, 'deployed-again')
  await untilServed(pair, site, 'deployed-again')
})

await t.test(
  'a store of yesterday, under coordinators that run: the agents are locked',
  async (t) => {
    const { api } = here.coordinator
    await pair.postgres.stop()
    const restore = await pair.postgres.keep()
    await pair.postgres.start()
    await untilReady(pair)
    await deployMark(here, 'of-today')
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
    await untilServed(pair, site, 'deployed-again')
  },
)

await t.test('a coordinator that stops hands over its agents and duties', async () => {
  await there.coordinator.daemon.stop()
  await untilAgent(here.coordinator, 'Running', 'left')
  await deployMark(here, 'alone')
  await untilServed(pair, site, 'alone', [here.coordinator.api])
  await there.coordinator.start()
  await untilServed(pair, site, 'alone')
})

/** Away twice, for the time that two deploys take or fail in. */
async function checkGoingOn(
  t: Test,
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
    'who could not deploy was told why',
  )
  t.ok(statuses.includes(200))
  await untilReady(pair)
  await untilSettled(pair, site)
  await deployMark(there, 'they-go-on')
  await untilServed(pair, site, 'they-go-on')
}

async function deployMark({ coordinator }: End, mark: string): Promise<string> {
  await editSite(coordinator, site, mark)
  expectDone(await coordinator.api.act(site.id, 'deploy'))
  return mark
}

/** How often what is wanted of the agents changed. */
async function readRevisions(api: ApiClient): Promise<number[]> {
  return (await api.listAgents()).map(({ config }) => config.desired.revision)
}

function withoutHeartbeat({
  lastHeartbeat,
  ...agent
}: AgentView): Omit<AgentView, 'lastHeartbeat'> {
  return lastHeartbeat === '' ? { ...agent, name: 'never heard' } : agent
}
