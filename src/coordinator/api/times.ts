/** Formats times for the APIs. */
import { rememberAnswers } from '../../runtime/bounded-cache.js'

/** Formatting a time takes ten times as long as finding it in the cache, and the same few times are formatted repeatedly. */
const maxPrintedTimes = 20_000

/** Converts milliseconds since 1970 to the API's format for times. */
export const toIso = rememberAnswers(maxPrintedTimes, (at: number) => new Date(at).toISOString())

/** Converts milliseconds since 1970 to seconds, the API's format for the expiry of tokens. */
export function toSeconds(at: number): number {
  return Math.floor(at / 1000)
}
