/** Formats the values of a chart with their unit. */
import { formatBytes, formatCount, formatRate, formatShare, unknown } from '../parts/quantity.js'

export type Unit = 'share' | 'rate' | 'bytes' | 'bytes per second' | 'milliseconds' | 'count'

/** Rare events have small rates, which must not be shown as 0. */
const small = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })

export function formatValue(unit: Unit, value: number | null | undefined): string {
  if (value == null) return unknown
  if (unit === 'share') return formatShare(value, 1)
  if (unit === 'rate') return value < 1 ? `${small.format(value)}/s` : formatRate(value)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes per second') return `${formatBytes(value)}/s`
  if (unit === 'milliseconds') return `${value < 10 ? small.format(value) : formatCount(value)} ms`
  return formatCount(value)
}

/** Returns the permitted distances of the value axis' ticks: round numbers in its unit. */
export function listDistances(unit: Unit): number[] {
  if (unit === 'bytes' || unit === 'bytes per second')
    return Array.from({ length: 60 }, (_, power) => 2 ** power)
  const least = unit === 'count' ? 0 : -4
  return Array.from({ length: 16 - least }, (_, at) => at + least).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  )
}
