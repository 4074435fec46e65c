/** The time range of the graphs, as in the URL: `6h`, or the start and end of a zoom. Pure functions. */
import type { Subject } from './subject.js'

export const spans = [
  { value: '10m', title: '10 min', seconds: 600 },
  { value: '1h', title: '1 h', seconds: 3_600 },
  { value: '6h', title: '6 h', seconds: 21_600 },
  { value: '1d', title: '1 day', seconds: 86_400 },
  { value: '7d', title: '1 week', seconds: 604_800 },
  { value: '30d', title: '1 month', seconds: 2_592_000 },
  { value: '90d', title: '3 months', seconds: 7_776_000 },
  { value: '365d', title: '1 year', seconds: 31_536_000 },
] as const

export type GraphRange =
  | { readonly isLive: true; readonly span: (typeof spans)[number] }
  /** Seconds since 1970. */
  | { readonly isLive: false; readonly from: number; readonly to: number }

/** A shorter range has too few rows. */
const shortestSeconds = 30
const longestSeconds = 2 * 365 * 86_400

/** Returns one hour if `word` is not a range. */
export function readRange(word: string): GraphRange {
  const zoomed = /^(\d{1,11})-(\d{1,11})$/.exec(word)
  if (zoomed) {
    const [from, to] = [Number(zoomed[1]), Number(zoomed[2])]
    if (to > from && to - from <= longestSeconds) return { isLive: false, from, to }
  }
  return { isLive: true, span: spans.find(({ value }) => value === word) ?? spans[1] }
}

/** Formats a zoom for the URL, at least a few rows long. */
export function formatZoom(from: number, to: number): string {
  const more = Math.max(0, Math.ceil((shortestSeconds - (to - from)) / 2))
  return `${from - more}-${to + more}`
}

export const rangeKeys = [
  { key: '+', title: 'A shorter range' },
  { key: '-', title: 'A longer range' },
  { key: 'ArrowLeft', title: 'Earlier' },
  { key: 'ArrowRight', title: 'Later' },
] as const
type RangeKey = (typeof rangeKeys)[number]['key']

/** Returns the range that a key moves to, as in the URL; null: no further. */
export function moveRange(range: GraphRange, key: RangeKey, nowSeconds: number): string | null {
  if (!range.isLive) return moveZoom(range, key, nowSeconds)
  if (key === 'ArrowRight') return null
  const { seconds } = range.span
  if (key === 'ArrowLeft')
    return moveZoom({ from: nowSeconds - seconds, to: nowSeconds }, key, nowSeconds)
  const at = spans.indexOf(range.span) + (key === '-' ? 1 : -1)
  return spans[at]?.value ?? null
}

interface Zoom {
  readonly from: number
  readonly to: number
}

/** Arrow keys move by a quarter; zooming keeps the middle. Never shows the future or times that are too old. */
function moveZoom({ from, to }: Zoom, key: RangeKey, nowSeconds: number): string | null {
  const least = Math.max(0, Math.min(from, nowSeconds - longestSeconds))
  const most = Math.max(to, nowSeconds)
  const factor = { '+': 1 / 2, '-': 2, ArrowLeft: 1, ArrowRight: 1 }[key]
  const quarters = { '+': 0, '-': 0, ArrowLeft: -1, ArrowRight: 1 }[key]
  const length = clamp(Math.round((to - from) * factor), shortestSeconds, longestSeconds)
  const middle = (from + to) / 2 + (quarters * length) / 4
  const begin = clamp(Math.round(middle - length / 2), least, Math.max(least, most - length))
  const end = Math.min(most, begin + length)
  return begin === from && end === to ? null : formatZoom(begin, end)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** Seconds until a live range is reloaded: long ranges change slowly, and summing many caches is expensive. */
export function rereadAfter(spanSeconds: number, { kind }: Pick<Subject, 'kind'>): number {
  const least = kind === 'agents' || kind === 'vclgroups' || kind === 'domains' ? 5 : 20
  return Math.min(300, Math.max(least, spanSeconds / 360))
}

/** An empty start of more than this part of a live range is cut off: nothing was measured then. */
const maxGapShare = 0.1

/** Trims a live range to where its rows begin. `first`: the time of the first row. */
export function trimRange(
  range: { readonly from: number; readonly to: number },
  first: number | undefined,
): { readonly from: number; readonly to: number } {
  const { from, to } = range
  const isAiry = first !== undefined && first - from > (to - from) * maxGapShare
  // Begins slightly earlier, so that the first row is not at the edge.
  return isAiry ? { from: Math.max(from, Math.floor(first - (to - first) * 0.02)), to } : range
}
