/** The values of a chart with their unit. */
import { sayBytes, sayCount, sayRate, sayShare, unknown } from '../parts/quantity.js'

export type Unit = 'share' | 'rate' | 'bytes' | 'bytes per second' | 'count'

export function sayValue(unit: Unit, value: number | null | undefined): string {
  if (value == null) return unknown
  if (unit === 'share') return sayShare(value, 1)
  if (unit === 'rate') return sayRate(value)
  if (unit === 'bytes') return sayBytes(value)
  if (unit === 'bytes per second') return `${sayBytes(value)}/s`
  return sayCount(value)
}
