/** Counters of a real cache: the files against varnishstat, and samples of known traffic over deploys and restarts. */
import t from 'tap'
import { StatTool } from '../../../src/agent/counters/stat-tool.js'
import { SharedMemory } from '../../../src/agent/counters/shared-memory.js'
import { computeRates, type CounterReading } from '../../../src/agent/counters/counter-rates.js'
import { selectCounters } from '../../../src/agent/counters/counter-selection.js'
import { kindOfCounter, resolveCounter } from '../../../src/resources/counters.js'
import { eventually } from '../../support/eventually.js'
import { cacheProgram } from '../../support/cache-program.js'
import { startVarnishd, type Varnishd } from '../../support/varnishd.js'
import { quoted, serving } from '../../support/observe-cache.js'
import { startCoordinatorEnd } from '../coordinator-end.js'
import { attachTo, runTestAgent } from '../run-agent.js'
import { countEvents, listSamples, startTraffic } from './cache-traffic.js'

const all = () => true
/** Other counters may be updated by several threads without a lock. */
const isUsual = selectCounters()
const isMonotonic = (name: string) => kindOfCounter(resolveCounter(name) ?? '') === 'counter'
/** These change by themselves, without traffic. */
const isRestless = (name: string) => /^(LCK|MEMPOOL)\.|uptime|\.summs|\.shm_|\.threads/.test(name)

function readFiles(memory: SharedMemory): CounterReading {
  const reading = memory.read()
  if (!reading) throw new Error('there was nothing to be read')
  return reading
}

void t.test('the files and varnishstat agree on every counter', async (t) => {
  const traffic = await startTraffic(t)
  const cache = await startVarnishd(t, { vcl: traffic.vcl, args: ['-s', 'disk=malloc,8m'] })
  const memory = new SharedMemory(cache.workDir, all)
  const varnishstat = new StatTool({
    folder: cache.workDir,
    statTool: cacheProgram.product.statTool,
    isWanted: all,
  })

  const sending = traffic.send(cache, 10, 10)
  for (let round = 0; round < 5; round++) {
    const before = readFiles(memory)
    const { values } = await varnishstat.read()
    const after = readFiles(memory)
    const wrong = [...values].filter(([name, value]) => {
      if (!isUsual(name)) return !before.values.has(name)
      const [least, most] = [before.values.get(name), after.values.get(name)]
      if (least === undefined || most === undefined) return true
      return isMonotonic(name) && (value < least || value > most)
    })
    t.same(wrong, [], 'under traffic')
    t.ok(values.size > 300)
  }
  await sending

  await cache.adm('vcl.inline', 'next', quoted(traffic.vcl))
  await cache.adm('vcl.use', 'next')
  await traffic.send(cache, 5, 2)
  await eventually('both agree on all counters at rest', async () => {
    const { values } = await varnishstat.read()
    const { values: read } = readFiles(memory)
    const others = [...values].filter(([name, n]) => !isRestless(name) && read.get(name) !== n)
    return others.length === 0 && read.get('MAIN.client_req') === 110n
  })
  t.equal(readFiles(memory).values.get('VBE.next.origin.req'), 5n)
  t.notOk(readFiles(memory).values.has('VBE.next.origin.happy'), 'a bitmap is not a counter')
})

void t.test('readings without a pause invent nothing over restarts and deploys', async (t) => {
  const traffic = await startTraffic(t)
  const cache = await startVarnishd(t, { vcl: traffic.vcl })
  const memory = new SharedMemory(cache.workDir, selectCounters())
  const ending = new AbortController()
  let readings = 0
  const counted = new Map<string, number>()
  const reading = (async () => {
    let before: CounterReading | null = null
    while (!ending.signal.aborted) {
      const now = memory.read()
      if (now) {
        readings += 1
        const seconds = (now.atMs - (before?.atMs ?? 0)) / 1000
        for (const name of ['MAIN.client_req', 'VBE.origin.req'])
          counted.set(
            name,
            (counted.get(name) ?? 0) + (computeRates(before, now).get(name) ?? 0) * seconds,
          )
        before = now
      }
      await new Promise(setImmediate)
    }
  })()
  for (let round = 0; round < 3; round++) {
    await cache.adm('vcl.inline', `v${round}`, quoted(traffic.vcl))
    await cache.adm('vcl.use', `v${round}`)
    await traffic.send(cache, 10, 2)
    await restartChild(cache)
    // The start VCL went with the first child: a new one begins with all loaded VCLs.
    await traffic.send(cache, 10, 2)
    if (round > 0) await cache.adm('vcl.discard', `v${round - 1}`)
  }
  ending.abort()
  await reading
  t.ok(readings > 10)
  const within = (name: string, most: number) => {
    const sum = counted.get(name) ?? 0
    t.ok(sum > 0 && sum < most + 0.5, `${name}: ${sum} of ${most}`)
  }
  within('MAIN.client_req', 120)
  within('VBE.origin.req', 60)
})

async function restartChild(cache: Varnishd): Promise<void> {
  const child = await cache.childPid()
  process.kill(child ?? 0, 'SIGKILL')
  await eventually('another child', async () => {
    const next = await cache.childPid()
    return next !== null && next !== child && (await cache.adm('status')).includes('running')
  })
}

void t.test(
  'samples match known traffic within 5 %, over restarts of cache and agent',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    coordinator.settings.statsIntervalMs = 200
    const traffic = await startTraffic(t)
    const cache = await startVarnishd(t, { vcl: traffic.vcl })
    const agent = await runTestAgent(t, coordinator, attachTo(cache))
    const site = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(traffic.vcl) }
    await eventually('linked', () => agent.isLinked())
    await coordinator.apply(1, serving(site))
    const samples = () => listSamples(coordinator)
    const count = (name: string) => countEvents(samples(), name)
    const isKnown = () => samples().at(-1)?.rates.get('MAIN.client_req') === 0
    await eventually('a rate is known', isKnown)
    t.equal(samples()[0]?.rates.get('MAIN.client_req'), null, 'the first reading has no rate')
    t.ok(samples()[0]?.hasNames)
    t.equal(
      samples().filter(({ hasNames: namesTold }) => namesTold).length <= 3,
      true,
      'names are sent once',
    )

    const settled = async (name: string, total: number) => {
      await eventually(`${name} ${total}`, () => count(name) >= 0.95 * total)
      t.ok(count(name) <= 1.05 * total, `${name}: ${count(name)} of ${total}`)
    }
    await traffic.send(cache, 20, 20)
    await settled('MAIN.client_req', 400)
    await settled('MAIN.cache_miss', 20)
    await settled('MAIN.cache_hit', 380)
    await settled('VBE.origin.req', 20)
    const [hits, misses] = [count('MAIN.cache_hit'), count('MAIN.cache_miss')]
    t.ok(Math.abs(hits / (hits + misses) - 0.95) < 0.01, `hit ratio ${hits / (hits + misses)}`)
    await restartChild(cache)
    await cache.restart()
    await agent.stop()
    const from = samples().length
    await runTestAgent(t, coordinator, attachTo(cache), { stateDir: agent.stateDir })
    await eventually('samples of the next agent', () => samples().length > from + 2 && isKnown())
    t.ok(samples()[from]?.hasNames, 'a new link starts with the names')
    t.ok(count('MAIN.client_req') <= 420, 'restarts cause no spike')
    const rates = samples().flatMap((sample) => [...sample.rates.values()])
    t.ok(rates.every((rate) => rate === null || rate >= 0))
  },
)

void t.test('watchers get a sample each second, until the watch ends', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  coordinator.settings.heartbeatMs = 600
  const cache = await startVarnishd(t)
  await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  const samples = () => listSamples(coordinator)
  const beats = () => coordinator.received.filter(({ kind }) => kind === 'heartbeat').length
  await eventually('two heartbeats', () => beats() > 1)
  t.equal(samples().length, 0, 'without an interval no samples are sent')

  coordinator.send({ kind: 'watch', forMs: 600_000 })
  await eventually('live samples', () => samples().length > 1)
  t.ok(samples().every(({ live }) => live))
  t.equal(samples()[0]?.rates.get('MAIN.client_req'), 0, 'the first live sample has a rate')

  coordinator.send({ kind: 'watch', forMs: 1 })
  await eventually('no more', () => {
    const kinds = coordinator.received.map(({ kind }) => kind)
    const after = kinds.slice(kinds.lastIndexOf('samples') + 1)
    // Longer than a second and a half.
    return after.filter((kind) => kind === 'heartbeat').length >= 3
  })
})
