/** Decides whether a loading certificate is committed, dropped, or waited for. Pure. */

export interface LoadingPlace {
  readonly name: string
  readonly isRunning: boolean
  readonly state: 'pending' | 'loaded' | 'failed'
  readonly error: string | null
}

type LoadingVerdict =
  | { readonly kind: 'wait' }
  | { readonly kind: 'commit' }
  /** Nothing is committed anywhere; caches keep serving the current release. */
  | { readonly kind: 'drop'; readonly message: string }

/** Limit of agents named in a message. */
const namesLimit = 20

/** All Running agents must load it; a Down agent does not delay it, and gets it when it returns. */
export function judgeLoading(
  places: readonly LoadingPlace[],
  deadlineAt: number,
  now: number,
): LoadingVerdict {
  const running = places.filter(({ isRunning }) => isRunning)
  const failed = running.filter(({ state }) => state === 'failed')
  if (failed.length > 0)
    return drop(failed.map(({ name, error }) => `${name}: ${error ?? 'no reason given'}`))
  const pending = running.filter(({ state }) => state === 'pending')
  if (pending.length === 0 && running.length > 0) return { kind: 'commit' }
  if (now < deadlineAt) return { kind: 'wait' }
  return running.length === 0
    ? drop(['no Running agent is left to load it'])
    : drop(pending.map(({ name }) => `${name}: it did not load it in time`))
}

function drop(reasons: readonly string[]): LoadingVerdict {
  const named = reasons.slice(0, namesLimit).join('; ')
  const more = reasons.length - namesLimit
  return { kind: 'drop', message: more > 0 ? `${named}; and ${more} more` : named }
}
