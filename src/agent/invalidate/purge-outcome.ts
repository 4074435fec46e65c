/**
 * Whether the purges of one entry are done, judged by the cache's responses and by the number of purges that it counted
 * (docs/behaviour.md, Purges). A response alone proves nothing: VCL may respond with 200 and remove nothing.
 */
import { countSince, type CounterReading } from '../counters/counter-rates.js'

/** Incremented once per purge, before the response, even if nothing was stored; for soft purges until 7.4 (cache_hash.c, HSH_Purge). */
export const purgeCounter = 'MAIN.n_purges'

export interface PurgeAnswer {
  /** Host and path. */
  readonly url: string
  readonly status: number
}

export interface PurgeVerdict {
  readonly isDone: boolean
  /** What failed or is uncertain. */
  readonly error: string | null
}

/** For a result's error, which has a length limit. */
const namedLimit = 3

/** The purges counted between two readings; null if unknown: not readable, or another child. */
export function countPurges(
  before: CounterReading | null,
  now: CounterReading | null,
): bigint | null {
  // A counter that the cache lacks must not count as one that did not grow.
  return now?.values.has(purgeCounter) ? countSince(before, now, purgeCounter) : null
}

/**
 * `counted`: null if unknown. Purges by other clients meanwhile can only increase it: then a failure may go unnoticed, but no
 * completed purge is rejected.
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
