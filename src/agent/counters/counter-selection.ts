/** Which counters of a cache are read: the usual ones, some of each backend and storage, and those that a setting adds. */
import { FleetError } from '../../errors.js'
import { defaultCounters, resolveCounter } from '../../resources/counters.js'
import type { CounterReading } from './counter-rates.js'

/** True when a counter is read; takes the cache's own name of it. */
export type CounterSelection = (name: string) => boolean

const ofEach: readonly string[] = [
  ...['req', 'conn', 'fail', 'unhealthy', 'beresp_bodybytes'].map((field) => `VBE.*.${field}`),
  ...['SMA', 'SMF', 'SMU'].flatMap((storage) =>
    ['c_bytes', 'g_bytes', 'g_space'].map((field) => `${storage}.*.${field}`),
  ),
]

/** `further`: names, or `VBE.*.busy` for one of each backend (or storage, or pool). Throws FleetError 'invalid'. */
export function selectCounters(further: readonly string[] = []): CounterSelection {
  const usual = defaultCounters.map(({ name }) => name)
  const selected = new Set([...usual, ...ofEach, ...further.map(readFurther)])
  // The last word is enough to exclude most of a cache's hundreds of counters.
  const fields = new Set([...selected].map(fieldOf))
  return (name) => {
    if (!fields.has(fieldOf(name))) return false
    const series = resolveCounter(name)
    if (series === null) return false
    return selected.has(series) || selected.has(nameOfEach(series))
  }
}

/**
 * Counts why a backend connection failed or was not tried: read for rollouts, not stored. Since 6.0 only these count a backend that
 * refuses connections, and `fail` stays 0 (cache_backend.c, cache_conn_pool.c).
 */
export function isBackendFailure(name: string): boolean {
  return name.startsWith('VBE.') && /^(?:fail_\w+|helddown|busy)$/.test(fieldOf(name))
}

export function narrowReading(reading: CounterReading, isWanted: CounterSelection): CounterReading {
  return { ...reading, values: new Map([...reading.values].filter(([name]) => isWanted(name))) }
}

/** `VBE.boot.default.busy` is one of `VBE.*.busy`. */
export function nameOfEach(series: string): string {
  const first = series.indexOf('.')
  const last = series.lastIndexOf('.')
  return first === last ? series : `${series.slice(0, first)}.*${series.slice(last)}`
}

const fieldOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)

function readFurther(name: string): string {
  if (/^[A-Z][A-Z\d]*\.\*\.[a-z]\w*$/.test(name)) return name
  const series = resolveCounter(name)
  if (series !== null) return series
  throw new FleetError(
    'invalid',
    'agent',
    `counters: ${JSON.stringify(name)} is not a counter; right would be MAIN.esi_errors, or VBE.*.busy for one of each backend`,
  )
}
