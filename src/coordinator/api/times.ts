/** Times as the APIs print them. */
import { rememberAnswers } from '../../runtime/bounded-cache.js'

/** Printing a time costs ten times what finding it does, and the same few times are printed again and again. */
const printedTimesMost = 20_000

/** Milliseconds since 1970, as the API writes times. */
export const toIso = rememberAnswers(printedTimesMost, (at: number) => new Date(at).toISOString())

/** Milliseconds since 1970, as the API writes the ends of tokens. */
export function toSeconds(at: number): number {
  return Math.floor(at / 1000)
}
