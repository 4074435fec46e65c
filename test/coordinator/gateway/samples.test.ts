/** Samples on the link: they are archived, live samples go to subscribers, and invalid samples are refused. */
import t, { type Test } from 'tap'
import type { LiveSample } from '../../../src/coordinator/bus/subjects.js'
import { createLiveSamples } from '../../../src/coordinator/statistics/live-samples.js'
import { createInProcessBus } from '../../../src/coordinator/bus/in-process.js'
import {
  LocalArchive,
  planArchive,
} from '../../../src/coordinator/statistics/store/local-archive.js'
import { openRows } from '../../../src/coordinator/statistics/store/open-rows.js'
import { eventually } from '../../support/eventually.js'
import { describe, link, startGateway } from './link-agent.js'
import { makeToken, startService } from './service.js'

const names = ['MAIN.cache_hit', 'MAIN.threads']

async function startLinked(t: Test) {
  const statistics = new LocalArchive(await openRows('sqlite::memory:'), planArchive(10_000), {
    wrote: () => undefined,
    warn: () => undefined,
  })
  t.teardown(() => statistics.close())
  const service = await startService(t, { statistics })
  const { host } = await startGateway(t, service)
  const token = await makeToken(service)
  const agent = await link(host, describe('edge', 'key'), { token, key: 'key' })
  t.teardown(() => {
    agent.socket.close()
  })
  return { service, agent }
}

void t.test(
  "samples are archived at the coordinator's time, whatever the agent's clock says",
  async (t) => {
    const { service, agent } = await startLinked(t)
    const wrongClock = Date.UTC(1999, 0, 1)
    for (let step = 0; step < 4; step++)
      agent.say({
        kind: 'samples',
        at: wrongClock + step * 10_000,
        live: false,
        ...(step === 0 ? { names } : {}),
        values: [step === 0 ? null : 7, 200],
      })

    const nowMs = service.now() + 30_000
    const series = await eventually('the samples are archived', async () => {
      const answer = await service.statistics.readSeries({
        caches: [{ agentId: agent.agentId, hidden: null }],
        names: ['MAIN.cache_hit'],
        consolidation: 'AVERAGE',
        startMs: service.now(),
        endMs: nowMs,
        nowMs,
      })
      const [found] = answer.series
      return found?.values.length === 3 ? found : undefined
    })
    t.same([...series.values], [7, 7, 7])
  },
)

void t.test('live samples go to subscribers and not into the archive', async (t) => {
  const { service, agent } = await startLinked(t)
  const seen: LiveSample[] = []
  const stop = service.liveSamples.watch([agent.agentId], (sample) => seen.push(sample))
  const { forMs } = await agent.next('watch')
  t.equal(forMs, 30_000)

  agent.say({ kind: 'samples', at: 1_000, live: true, names, values: [null, 200] })
  await eventually('the subscriber gets it', () => seen.length === 1)
  t.match(seen[0], { agentId: agent.agentId, at: service.now(), names, values: [null, 200] })
  stop()
  agent.say({ kind: 'samples', at: 2_000, live: true, values: [5, 200] })
  agent.say({ kind: 'heartbeat', condition: describe('edge', 'key').condition })
  const again: LiveSample[] = []
  const end = service.liveSamples.watch([agent.agentId], (sample) => again.push(sample))
  await agent.next('watch')
  agent.say({ kind: 'samples', at: 3_000, live: true, values: [6, 200] })
  await eventually('the newest arrives', () => again.at(-1)?.values[0] === 6)
  end()
  t.equal(seen.length, 1, 'a closed subscription gets no sample')
  const newest = await service.statistics.readNewest({
    caches: [{ agentId: agent.agentId, hidden: null }],
    nowMs: service.now(),
  })
  t.equal(newest.caches, 0)
})

void t.test('invalid samples end the link with the reason', async (t) => {
  const cases: readonly (readonly [RegExp, { names?: string[]; values: (number | null)[] }])[] = [
    [/1 values came for 0 names/, { values: [1] }],
    [/2 values came for 1 names/, { names: ['MAIN.cache_hit'], values: [1, 2] }],
    [/is not a name of a counter/, { names: ['<script>'], values: [1] }],
  ]
  for (const [reason, samples] of cases) {
    const { agent } = await startLinked(t)
    agent.say({ kind: 'samples', at: 1, live: false, ...samples })
    const closed = await agent.untilClosed()
    t.match(closed.reason, reason)
  }
})

void t.test(
  'live subscriptions are limited, and renewed for as long as there are subscribers',
  (t) => {
    const live = createLiveSamples(createInProcessBus())
    const many = Array.from({ length: 1000 }, (_, at) => at + 1)
    const stop = live.watch(many, () => undefined)
    t.throws(() => live.watch([1, 1001], () => undefined), {
      message: /1000 agents have live subscriptions already/,
    })
    stop()
    const one = live.watch([1001], () => undefined)
    one()
    one()
    void live.close()
    t.end()
  },
)
