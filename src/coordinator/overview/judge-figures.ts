/** Converts counters to the main figures for operators: requests, hit ratio, failed fetches, errors (docs/behaviour.md, Overview). */
import type { Figures } from '../../resources/overview.js'

/** The counters read for each cache, as events per second. */
export const figureCounters = [
  'MAIN.client_req',
  'MAIN.cache_hit',
  'MAIN.cache_miss',
  'MAIN.fetch_failed',
  'MAIN.backend_fail',
  'GROUP.*.status_5xx',
] as const

/** Rates of one cache, or summed over several, in the order of `figureCounters`; NaN: not known. */
export type FigureRates = ArrayLike<number>

/** The archive stores single precision: further digits are noise. */
const digits = 7

export function toFigures(rates: FigureRates): Figures {
  const [requests = Number.NaN, hits = Number.NaN, misses = Number.NaN] = Array.from(rates)
  const lookups = hits + misses
  return {
    requests: toShown(requests),
    hitRatio: lookups > 0 ? toShown(hits / lookups) : null,
    errors: toShown(rates[5] ?? Number.NaN),
    failedFetches: toShown(failuresOf(rates)),
  }
}

/** Adds the known rates to `sum`. */
export function addRates(sum: Float64Array, rates: FigureRates): void {
  for (let at = 0; at < sum.length; at += 1) {
    const rate = rates[at] ?? Number.NaN
    if (Number.isNaN(rate)) continue
    sum[at] = Number.isNaN(sum[at]) ? rate : (sum[at] ?? 0) + rate
  }
}

export function emptyRates(): Float64Array {
  return new Float64Array(figureCounters.length).fill(Number.NaN)
}

/** Failed fetches plus failed backend connections, of which one fetch may try two. */
function failuresOf(rates: FigureRates): number {
  const [failed = Number.NaN, unconnected = Number.NaN] = [rates[3], rates[4]]
  if (Number.isNaN(failed)) return unconnected
  return Number.isNaN(unconnected) ? failed : failed + unconnected
}

/** Requests per second; with fewer, a hit ratio is chance. */
const minRequests = 1
/** A hit ratio is notably low if it is more than this below the overall hit ratio. */
const notable = 0.05

/**
 * Returns the rows with the most failed fetches, then the rows with traffic whose hit ratio is notably below the
 * overall one, the lowest first. A healthy fleet has none.
 */
export function findWorst<Row extends { readonly rates: FigureRates }>(
  rows: readonly Row[],
  most: number,
): readonly (Row & { readonly figures: Figures })[] {
  const failing: Judged<Row>[] = []
  const missing: Judged<Row>[] = []
  const sum = emptyRates()
  for (const { rates } of rows) addRates(sum, rates)
  const minRatio = ratioOf(sum) - notable
  for (const row of rows) {
    const failures = failuresOf(row.rates)
    const ratio = ratioOf(row.rates)
    if (failures > 0) failing.push({ row, badness: failures })
    else if ((row.rates[0] ?? 0) >= minRequests && ratio < minRatio)
      missing.push({ row, badness: 1 - ratio })
  }
  return [...takeWorst(failing, most), ...takeWorst(missing, most)]
    .slice(0, most)
    .map(({ row }) => ({ ...row, figures: toFigures(row.rates) }))
}

interface Judged<Row> {
  readonly row: Row
  readonly badness: number
}

/** Linear in the number of rows, because `most` is small. */
function takeWorst<Row>(judged: readonly Judged<Row>[], most: number): readonly Judged<Row>[] {
  const worst: Judged<Row>[] = []
  for (const one of judged) {
    if (worst.length === most && one.badness <= (worst.at(-1)?.badness ?? 0)) continue
    const at = worst.findIndex(({ badness }) => badness < one.badness)
    worst.splice(at < 0 ? worst.length : at, 0, one)
    if (worst.length > most) worst.pop()
  }
  return worst
}

function ratioOf(rates: FigureRates): number {
  const lookups = (rates[1] ?? 0) + (rates[2] ?? 0)
  return lookups > 0 ? (rates[1] ?? 0) / lookups : 1
}

function toShown(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(digits))
}
