/**
 * Whether the purges of one entry are done: by what the cache answered, and by how many purges it counted meanwhile
 * (docs/behaviour.md, Purges). An answer alone proves nothing: VCL may answer 200 and remove nothing.
 */
import { countSince, type CounterReading } from '../counters/counter-rates.js'

/** Counted once for each purge, before the answer, whatever was stored; soft ones until 7.4 (cache_hash.c, HSH_Purge). */
export const purgeCounter = 'MAIN.n_purges'

export interface PurgeAnswer {
  /** Host and path. */
  readonly url: string
  readonly status: number
}

export interface PurgeVerdict {
  readonly isDone: boolean
  /** What is not right, or not certain. */
  readonly error: string | null
}

/** Of a result's error, which is cut. */
const namedLimit = 3

/** What was counted between two readings; null where that is not known: not readable, or another child. */
export function countPurges(
  before: CounterReading | null,
  now: CounterReading | null,
): bigint | null {
  // One that a cache does not have is not one that did not grow.
  return now?.values.has(purgeCounter) ? countSince(before, now, purgeCounter) : null
}

/**
 * `counted`: null when it is not known. Purges of somebody else meanwhile can only make it more: then too much is believed,
 * and nothing that was done is refused.
 */
export function judgePurges(
  method: string,
  answers: readonly PurgeAnswer[],
  counted: bigint | null,
): PurgeVerdict {
  const refused = answers.filter(({ status }) => status < 200 || status > 299)
  if (refused.length > 0) return { isDone: false, error: `not purged: ${listRefused(refused)}` }
  if (counted === null) return { isDone: true, error: 'unconfirmed' }
  if (counted >= BigInt(answers.length)) return { isDone: true, error: null }
  return {
    isDone: false,
    error:
      `not purged: requests answered with 2xx: ${answers.length}, purges that the cache counted: ${counted}; ` +
      `the VCL must return (purge) for ${method}, and that of a root group has to do so itself; ` +
      'soft purges are not counted from release 7.5 on',
  }
}

function listRefused(refused: readonly PurgeAnswer[]): string {
  const named = refused.slice(0, namedLimit).map(({ url, status }) => `${url}: ${status}`)
  const more = refused.length - named.length
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
