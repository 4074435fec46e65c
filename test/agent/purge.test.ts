/** Purges of a real cache and their counter: VCL that purges, VCL that only claims to, and missing counters. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { hasQuirk } from '../../protocol/quirks.js'
import { createCounterReader, type CounterReader } from '../../src/agent/counters/counter-reader.js'
import { createSimulatedCounters } from '../../src/agent/counters/simulated-counters.js'
import { sendPurges } from '../../src/agent/invalidate/purge.js'
import { purgeCounter } from '../../src/agent/invalidate/purge-outcome.js'
import type { PurgeOrder } from '../../src/messages/coordinator-to-agent.js'
import { readRelease } from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

/** Purges, except below /kept; SOFT uses the module, which leaves stale objects. */
const purging = `vcl 4.1;
import purge;
backend default none;
sub vcl_recv {
  if (req.method == "PURGE" && req.url !~ "^/kept") { return (purge); }
  if (req.method == "SOFT") { return (hash); }
  return (synth(200));
}
sub vcl_miss { purge.soft(0s); return (synth(200)); }
`

const order = (...paths: readonly string[]): PurgeOrder => ({
  method: 'PURGE',
  headers: {},
  requests: paths.map((path) => ({ host: 'any.example', path, secret: null })),
})

function openCounter(workingDirectory: string): CounterReader {
  const isWanted = (name: string): boolean => name === purgeCounter
  const log = pino({ level: 'silent' })
  const product = (): string => 'varnish'
  return createCounterReader({ workingDirectory, cachePid: () => null, product, isWanted, log })
}

async function startPurged(t: Test) {
  const cache = await startVarnishd(t, { vcl: purging })
  const http = { host: cache.host, port: cache.httpPort }
  const counter = openCounter(cache.workDir)
  const purge = (sent: PurgeOrder, by = counter) => sendPurges(http, sent, by)
  return { cache, counter, purge }
}

const confirmed = { isDone: true, error: null, trouble: null }
const unconfirmed = { isDone: true, error: 'unconfirmed', trouble: null }

void t.test('a counted purge is done, whether or not an object was stored', async (t) => {
  const { counter, purge } = await startPurged(t)
  t.same(await purge(order('/')), confirmed)
  const paths = Array.from({ length: 40 }, (_, n) => `/${n}`)
  t.same(await purge(order(...paths)), confirmed, 'several at once')
  const soft = await purge({ ...order('/'), method: 'SOFT' })
  const isUncounted = hasQuirk(readRelease().version, 'countsHardPurgesOnly')
  if (isUncounted) t.match(soft, { isDone: false, error: /soft purges are not counted/ })
  else t.same(soft, confirmed)
  t.equal((await counter.read())?.values.get(purgeCounter), isUncounted ? 41n : 42n)
})

void t.test('a 2xx that purged nothing fails with a reason', async (t) => {
  const { purge } = await startPurged(t)
  const failed = { isDone: false, trouble: null }
  t.match(await purge(order('/kept')), {
    ...failed,
    error: /2xx: 1, .*counted: 0; the VCL must return \(purge\) for PURGE/,
  })
  t.match(await purge(order('/1', '/kept', '/2')), { ...failed, error: /2xx: 3, .*counted: 2;/ })
})

void t.test('without counters, or after a child restart, a purge is unconfirmed', async (t) => {
  const { cache, counter, purge } = await startPurged(t)
  t.same(await purge(order('/'), openCounter(`${cache.workDir}-of-another`)), unconfirmed)
  t.same(await purge(order('/'), createSimulatedCounters('edge-1', 0)), unconfirmed)
  t.same(await purge(order('/'), restartingBefore(2, cache, counter)), unconfirmed)
  t.same(await purge(order('/')), confirmed, 'with the next child')
})

void t.test('on a simulated cache no request is sent, and the purge is done at once', async (t) => {
  const unread: CounterReader = { read: () => Promise.reject(new Error('nothing is counted')) }
  const outcome = await sendPurges({ host: '127.0.0.1', port: 0 }, order('/'), unread)
  t.same(outcome, confirmed)
})

/** Restarts the child before that reading. */
function restartingBefore(reading: number, cache: Varnishd, counter: CounterReader): CounterReader {
  let readings = 0
  return {
    read: async () => {
      readings += 1
      if (readings === reading) {
        const before = await cache.childPid()
        if (before !== null) process.kill(before, 'SIGKILL')
        await eventually('another child', async () => {
          const now = await cache.childPid()
          return now !== null && now !== before
        })
      }
      return counter.read()
    },
  }
}
