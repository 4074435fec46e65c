/**
 * Two coordinators with a real cache and its agent at each: calls on either, and a coordinator that is killed or suspended
 * during a deploy. Bus and store: coordinators-outages.test.ts.
 */
import t from 'tap'
import type { AgentView } from '../support/api-client.js'
import {
  apisOf,
  checkTraffic,
  deployMark,
  duringDeploy,
  startSite,
  untilDiscarded,
  untilIdle,
  untilServed,
  untilSettled,
} from './coordinator-pair.js'
import { checkRolloutHandover } from './rollout-handover.js'
import { checkWebhookHandover } from './webhook-handover.js'
import { deploySite, editSite, expectDone, readRefusal, untilAgent } from './harness.js'

const started = await startSite(t)
const { pair, here, there, site } = started

await t.test('both show the same, and serve calls about agents of the other', async (t) => {
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

await t.test('both report a deploy that one has refused', async (t) => {
  await editSite(here.coordinator, site, 'never')
  await here.coordinator.api.editFile(site.file, 'vcl 4.1; nonsense')
  readRefusal(await here.coordinator.api.act(site.id, 'deploy'), 422)

  const [entry] = await there.coordinator.api.readHistory(site.id)
  t.match(entry, { revision: null, result: /site\.vcl line 1/ })
})

await t.test(
  'killed before the decision: the other discards it, and the old VCL serves',
  async (t) => {
    const before = await deployMark(site, there, 'before-kill')
    await editSite(there.coordinator, site, 'discarded')
    const killed = there.link.trap({
      ...duringDeploy('applyReport', site, there.coordinator.api),
      act: async () => {
        await here.coordinator.daemon.kill()
      },
    })
    const answer = here.coordinator.api.act(site.id, 'deploy').catch(() => null)
    await killed

    t.equal(await answer, null, 'the call has no answer')
    await untilDiscarded(there.coordinator.api, site)
    await untilServed(pair, site, before, [there.coordinator.api])
    await t.test('and the other deploys to all agents, which have reconnected to it', async () => {
      await deployMark(site, there, 'by-the-other')
      await untilServed(pair, site, 'by-the-other', [there.coordinator.api])
    })
    await here.coordinator.start()
    await untilServed(pair, site, 'by-the-other')
  },
)

await t.test('killed after the decision: the other completes the deploy', async (t) => {
  await editSite(there.coordinator, site, 'completed')
  const killed = there.link.trap({
    // Since the first kill, both agents are here: two of phase one, then the switch.
    ...duringDeploy('apply', site, there.coordinator.api),
    nth: 3,
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

await t.test('a coordinator that was suspended during its deploy writes nothing', async (t) => {
  await editSite(there.coordinator, site, 'slept')
  const asleep = there.link.trap({
    ...duringDeploy('applyReport', site, there.coordinator.api),
    act: () => {
      here.coordinator.daemon.signal('SIGSTOP')
    },
  })
  const answer = here.coordinator.api.act(site.id, 'deploy')
  await asleep
  await untilDiscarded(there.coordinator.api, site)

  here.coordinator.daemon.signal('SIGCONT')

  t.match(readRefusal(await answer, 503), /another coordinator took over this deploy/)
  await untilServed(pair, site, 'completed')
  t.equal((await there.coordinator.api.readHistory(site.id))[0]?.revision, null)
})

await t.test('a deploy that one runs is cancelled through the other', async (t) => {
  await editSite(here.coordinator, site, 'cancelled')
  const ended = there.link.trap({
    ...duringDeploy('applyReport', site, there.coordinator.api),
    act: async () => {
      const answer = await there.coordinator.api.act(site.id, 'cancel')
      t.equal(answer.status, 200, answer.text)
    },
  })
  const answer = here.coordinator.api.act(site.id, 'deploy')
  await ended

  t.match(readRefusal(await answer, 409), /cancelled by root/)
  const [entry] = await here.coordinator.api.readHistory(site.id)
  t.match(entry, { revision: null, result: 'cancelled by root' })
  await untilServed(pair, site, 'completed')
})

await t.test('two deploys of the group at once, by either', async (t) => {
  for (let round = 0; round < 3; round++) {
    await editSite(here.coordinator, site, `at-once-${round}`)
    const answers = await Promise.all(apisOf(pair).map((api) => api.act(site.id, 'deploy')))
    for (const answer of answers) expectDone(answer)
    t.equal(await untilSettled(pair, site), `at-once-${round}`)
  }
})

await t.test('no request failed meanwhile', (t) => checkTraffic(t, started))

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
  await deployMark(site, there, 'deployed-again')
  await untilServed(pair, site, 'deployed-again')
})

await t.test('one sends the webhooks, and the other when it is killed', (t) =>
  checkWebhookHandover(t, started),
)

await t.test('if a coordinator is killed during a bake, the other completes the rollout', (t) =>
  checkRolloutHandover(t, started),
)

await t.test('a drain requested from one is shown by the other, and ends', async (t) => {
  const agent = await there.coordinator.api.findAgent(here.agentName)
  const at = `/agents/${agent?.id ?? 0}`
  const readReasons = () =>
    Promise.all(
      apisOf(pair).map(async (api) => {
        const { text } = await api.call('GET', at)
        return (JSON.parse(text) as { draining: { reason: string } | null }).draining?.reason
      }),
    )
  const drain = await there.coordinator.api.call('PUT', `${at}/drain`, { reason: 'kernel update' })
  t.equal(drain.status, 200, drain.text)
  t.same(await readReasons(), ['kernel update', 'kernel update'])
  // Its place cannot move: the deployment needs both.
  await untilServed(pair, site, 'handed-over')
  t.equal((await here.coordinator.api.call('PUT', `${at}/undrain`)).status, 200)
  t.same(await readReasons(), [undefined, undefined])
})

await t.test('a coordinator that stops hands over its agents and tasks', async () => {
  await there.coordinator.daemon.stop()
  await untilAgent(here.coordinator, 'Running', 'left')
  await deployMark(site, here, 'alone')
  await untilServed(pair, site, 'alone', [here.coordinator.api])
  await there.coordinator.start()
  await untilServed(pair, site, 'alone')
})

function withoutHeartbeat({
  lastHeartbeat,
  ...agent
}: AgentView): Omit<AgentView, 'lastHeartbeat'> {
  return lastHeartbeat === '' ? { ...agent, name: 'never heard' } : agent
}
