/**
 * Counters of a simulated cache: traffic that rises and falls over ten minutes, with a volume derived from its name. It depends
 * only on time, so a thousand caches cost almost nothing.
 */
import { createHash } from 'node:crypto'
import type { CounterReading } from './counter-rates.js'
import type { CounterReader } from './counter-reader.js'

const periodSeconds = 600
const swing = 0.6

export function createSimulatedCounters(name: string, startedAtMs: number): CounterReader {
  const [size = 0, phase = 0, quality = 0] = createHash('sha256').update(name).digest()
  const traffic = {
    perSecond: 20 + size,
    phase: (phase / 256) * 2 * Math.PI,
    hitShare: 0.8 + (quality / 256) * 0.18,
  }
  const lives = { manager: name, child: name }
  return {
    read: () => {
      const atMs = performance.now()
      const values = countTraffic(traffic, Math.max(0, atMs - startedAtMs) / 1000)
      return Promise.resolve({ atMs, lives, isComplete: true, values } satisfies CounterReading)
    },
  }
}

interface Traffic {
  readonly perSecond: number
  readonly phase: number
  readonly hitShare: number
}

/** The counters after this many seconds. They never decrease: each is the integral of a positive rate. */
export function countTraffic(traffic: Traffic, seconds: number): ReadonlyMap<string, bigint> {
  const { perSecond, phase, hitShare } = traffic
  const angle = (2 * Math.PI) / periodSeconds
  const wave = (at: number) => Math.sin(angle * at + phase)
  const area = (at: number) => -Math.cos(angle * at + phase) / angle
  const requests = perSecond * (seconds + swing * (area(seconds) - area(0)))
  const level = 1 + swing * wave(seconds)
  const passes = requests * 0.02
  const misses = requests * (0.98 - hitShare)
  const fetches = misses + passes
  const objects = Math.min(50_000, 100 + misses)
  return toWholes({
    'MAIN.client_req': requests,
    'MAIN.cache_hit': requests * hitShare,
    'MAIN.cache_hit_grace': requests * hitShare * 0.01,
    'MAIN.cache_hitpass': passes * 0.25,
    'MAIN.cache_hitmiss': misses * 0.05,
    'MAIN.cache_miss': misses,
    'MAIN.s_pass': passes,
    'MAIN.s_synth': requests * 0.001,
    'MAIN.s_fetch': fetches,
    'MAIN.s_req_hdrbytes': requests * 450,
    'MAIN.s_resp_hdrbytes': requests * 380,
    'MAIN.s_resp_bodybytes': requests * 24_000,
    'MAIN.sess_conn': requests * 0.12,
    'MAIN.sess_dropped': 0,
    'MAIN.sess_queued': requests * 0.0001,
    'MAIN.backend_req': fetches,
    'MAIN.backend_conn': fetches * 0.05,
    'MAIN.backend_reuse': fetches * 0.95,
    'MAIN.backend_fail': fetches * 0.0005,
    'MAIN.fetch_failed': fetches * 0.001,
    'MAIN.threads': 200 + Math.round(perSecond * level * 0.1),
    'MAIN.thread_queue_len': 0,
    'MAIN.n_object': objects,
    'MAIN.n_expired': misses * 0.6,
    'MAIN.n_lru_nuked': Math.max(0, misses * 0.4 - 50_000),
    'MAIN.n_backend': 1,
    'MAIN.bans': 1,
    'SMA.s0.c_bytes': misses * 26_000,
    'SMA.s0.g_bytes': objects * 26_000,
    'SMA.s0.g_space': 2 ** 31 - objects * 26_000,
    'VBE.default.req': fetches,
    'VBE.default.conn': Math.round(fetches > 0 ? level * 3 : 0),
    'VBE.default.fail': fetches * 0.0005,
    'VBE.default.beresp_bodybytes': fetches * 26_000,
  })
}

function toWholes(counters: Readonly<Record<string, number>>): ReadonlyMap<string, bigint> {
  return new Map(
    Object.entries(counters).map(([name, value]) => [name, BigInt(Math.max(0, Math.floor(value)))]),
  )
}
