/** Validates the consolidation function and the two times in the path of a request. */
import { FleetError, type ErrorKey } from '../../../errors.js'
import { consolidations, parseConsolidation, type Consolidation } from './consolidation.js'

export interface TimeRange {
  readonly startMs: number
  readonly endMs: number
}

/** The year 9999. */
const latestSeconds = 253_402_300_799
/** Longer than the longest archive (600 rows of 1597 minutes: 665 days). */
const longestSeconds = 2 * 366 * 86_400

/** Throws FleetError 'invalid'. */
export function requireConsolidation(word: string, errorKey: ErrorKey): Consolidation {
  const found = parseConsolidation(word)
  if (found) return found
  throw new FleetError(
    'invalid',
    errorKey,
    `${shorten(word)} is not a consolidation function; it is one of ${consolidations.join(', ')}`,
  )
}

/** Seconds since 1970, both inclusive. Throws FleetError 'invalid'. */
export function requireRange(
  { start, end }: { readonly start: string; readonly end: string },
  errorKey: ErrorKey,
): TimeRange {
  const startSeconds = requireSeconds('start', start, errorKey)
  const endSeconds = requireSeconds('end', end, errorKey)
  if (startSeconds > endSeconds)
    throw new FleetError('invalid', errorKey, `start ${start} is later than end ${end}`)
  if (endSeconds - startSeconds > longestSeconds)
    throw new FleetError(
      'invalid',
      errorKey,
      `from ${start} to ${end} is longer than two years (${longestSeconds} s), and so old nothing is`,
    )
  return { startMs: startSeconds * 1000, endMs: endSeconds * 1000 }
}

function requireSeconds(name: string, text: string, errorKey: ErrorKey): number {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= latestSeconds) return seconds
  throw new FleetError(
    'invalid',
    errorKey,
    `${name} is ${shorten(text)}; right are whole seconds since 1970, 0 to ${latestSeconds}`,
  )
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
