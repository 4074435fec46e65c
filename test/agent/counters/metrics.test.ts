/** The metrics endpoint of an agent: series stable over deploys, names without VCLs, and no route but /metrics. */
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { createCounterReader } from '../../../src/agent/counters/counter-reader.js'
import { exposeCounters } from '../../../src/agent/counters/exposition.js'
import { startMetricsListener } from '../../../src/agent/counters/metrics-listener.js'
import {
  countTraffic,
  createSimulatedCounters,
} from '../../../src/agent/counters/simulated-counters.js'
import { computeRates } from '../../../src/agent/counters/counter-rates.js'
import { selectCounters } from '../../../src/agent/counters/counter-selection.js'
import { defaultCounters } from '../../../src/resources/counters.js'
import { makeStateDir, runDaemon } from '../../support/daemon.js'
import { eventually } from '../../support/eventually.js'
import { startVarnishd } from '../../support/varnishd.js'
import { quoted } from '../../support/observe-cache.js'
import { startCoordinatorEnd } from '../coordinator-end.js'
import { attachTo, runTestAgent } from '../run-agent.js'
import { listSamples, startTraffic } from './cache-traffic.js'

const log = pino({ level: 'silent' })
const listen = { host: '127.0.0.1', port: 0 }

void t.test('series stay the same over deploys and only grow', async (t) => {
  const traffic = await startTraffic(t)
  const cache = await startVarnishd(t, { vcl: traffic.vcl })
  const { workDir: workingDirectory } = cache
  const reader = createCounterReader({
    workingDirectory,
    cachePid: () => null,
    product: () => 'varnish',
    isWanted: selectCounters(),
    log,
  })
  const listener = await startMetricsListener({ listen, reader, log })
  t.teardown(() => listener.close())
  const scrape = () => readMetrics(listener.port)
  const requests = 'cachefleet_cache_vbe_req_total{backend="origin"}'

  const first = await scrape()
  t.equal(first.get('cachefleet_cache_up'), 1)
  t.equal(first.get(requests), 0)
  await traffic.send(cache, 10, 2)
  await eventually('ten fetches', async () => (await scrape()).get(requests) === 10)
  await cache.adm('vcl.inline', 'next-one', quoted(traffic.vcl))
  await cache.adm('vcl.use', 'next-one')
  await scrape()
  await cache.adm('vcl.discard', 'boot')
  await traffic.send(cache, 5, 2)
  await eventually('five more', async () => (await scrape()).get(requests) === 15)
  const last = await scrape()
  t.same([...last.keys()], [...first.keys()])
  t.equal(last.get('cachefleet_cache_main_client_req_total'), 30)

  await cache.stop('SIGKILL')
  await eventually(
    'the cache is gone',
    async () => (await scrape()).get('cachefleet_cache_up') === 0,
  )
  t.equal((await scrape()).size, 1)
})

async function readMetrics(port: number): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await response.text()
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [name = '', value] = line.split(' ')
        return [name, Number(value)]
      }),
  )
}

void t.test('the listener serves only GET /metrics', async (t) => {
  const reader = createSimulatedCounters('edge-1', performance.now())
  const listener = await startMetricsListener({ listen, reader, log })
  t.teardown(() => listener.close())
  const url = `http://127.0.0.1:${listener.port}`
  const [metrics, root, post] = await Promise.all([
    fetch(`${url}/metrics`),
    fetch(url),
    fetch(`${url}/metrics`, { method: 'POST', body: 'x' }),
  ])
  t.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.same([metrics.status, root.status, post.status], [200, 404, 405])
  t.equal(post.headers.get('allow'), 'GET, HEAD')
  const socket = connect(listener.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.end('no HTTP\r\n\r\n')
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 400/)
  const taken = { ...listen, port: listener.port }
  await t.rejects(startMetricsListener({ listen: taken, reader, log }), {
    message: /metricsListen.*EADDRINUSE.*right would be/,
  })
})

void t.test('a backend’s name is always escaped into a valid label', (t) => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (ident) => {
      const text = exposeCounters(new Map([[`VBE.${ident}.req`, 1n]]))
      const lines = text.trimEnd().split('\n')
      t.equal(lines.length, 6)
      t.match(lines[5], /^cachefleet_cache_vbe_req_total\{backend="(?:[^"\\]|\\.)*"\} 1$/)
    }),
  )
  t.end()
})

void t.test('a simulated cache produces plausible counters', (t) => {
  const anyTraffic = fc.record({
    perSecond: fc.integer({ min: 20, max: 275 }),
    phase: fc.double({ min: 0, max: 6.3, noNaN: true }),
    hitShare: fc.double({ min: 0.8, max: 0.98, noNaN: true }),
  })
  const known = new Set(defaultCounters.map(({ name }) => name))
  fc.assert(
    fc.property(anyTraffic, fc.nat(1e7), fc.nat(1e5), (traffic, from, more) => {
      const lives = { manager: 'm', child: 'c' }
      const reading = (seconds: number) => ({
        atMs: seconds * 1000,
        lives,
        isComplete: true,
        values: countTraffic(traffic, seconds),
      })
      const rates = computeRates(reading(from), reading(from + more + 1))
      const rate = (name: string) => rates.get(`MAIN.${name}`) ?? -1
      t.ok([...rates.values()].every((value) => value !== null && value >= 0))
      t.ok(rate('client_req') > 0 && rate('client_req') < 2 * traffic.perSecond)
      t.ok(rate('cache_hit') + rate('cache_miss') <= rate('client_req') + 2)
    }),
  )
  for (const name of countTraffic({ perSecond: 1, phase: 0, hitShare: 0.9 }, 1).keys())
    t.ok(known.has(name) || name.startsWith('VBE.default.'), name)
  t.end()
})

void t.test(
  'an agent serves Prometheus without a coordinator, and samples the configured counters',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    coordinator.settings.statsIntervalMs = 100
    coordinator.settings.admit = () => 503
    const cache = await startVarnishd(t)
    const agent = await runTestAgent(t, coordinator, attachTo(cache), {
      metricsListen: listen,
      furtherCounters: ['esi_errors'],
    })
    const port = () =>
      (agent.lines as readonly { port?: number }[]).find((line) => line.port !== undefined)?.port
    t.ok((await readMetrics(port() ?? 0)).has('cachefleet_cache_main_esi_errors_total'))
    coordinator.settings.admit = () => null
    const samples = () => listSamples(coordinator)
    await eventually('samples', () => samples().length > 2)
    t.equal(samples().at(-1)?.rates.get('MAIN.esi_errors'), 0)

    await coordinator.close()
    await coordinator.open()
    const from = samples().length
    const reopenedAt = Date.now()
    await eventually('samples of the next link', () => samples().length > from)
    t.ok(samples()[from]?.hasNames)
    t.ok((samples()[from]?.at ?? 0) >= reopenedAt - 100, 'no samples were kept while disconnected')
  },
)

void t.test('a daemon whose address is in use reports it and leaves no cache behind', async (t) => {
  const reader = createSimulatedCounters('edge-1', performance.now())
  const listener = await startMetricsListener({ listen, reader, log })
  t.teardown(() => listener.close())
  const stateDir = await makeStateDir(t)
  const words = ['--metrics-listen', `127.0.0.1:${listener.port}`, '--state-dir', stateDir]

  const ended = await runDaemon(['--engine', 'spawn', ...words])
  t.match(ended, { code: 1, errors: /metricsListen: .*EADDRINUSE/ })
  await t.rejects(access(join(stateDir, 'engine', 'process.json')), 'the process record is removed')
})
