/** The problems of an invalidation. Pure: from its state and the number of agents that have completed it. */
import { invalidationStates } from '../../resources/invalidation.js'
import { countCaches, type Finding } from './make-problem.js'

interface JudgedInvalidation {
  readonly id: number
  /** When it was created or retried. */
  readonly updatedAt: number
  readonly finishedAt: number | null
  readonly expiresAt: number
}

interface Progress {
  readonly state: number
  readonly done: number
  readonly total: number
}

/** The agents are not listed again: they are in the invalidation's results. */
export function findInvalidationProblems(
  { id, updatedAt, finishedAt, expiresAt }: JudgedInvalidation,
  { state, done, total }: Progress,
): Finding[] {
  const { Failed, Retrying, Waiting } = invalidationStates
  const missing = countCaches(total - done)
  const ends = new Date(expiresAt).toISOString()
  const shared = { code: 'behind-on-invalidations' } as const
  switch (state) {
    case Waiting:
      return [
        {
          ...shared,
          message: `Waiting for ${missing} that cannot be reached now`,
          sinceMs: updatedAt,
          remedy: `Bring these caches back or unlock them; they do it when they return, until ${ends}. \`invalidations cancel ${id}\` ends it`,
        },
      ]
    case Retrying:
      return [
        {
          ...shared,
          message: `It is not done on ${missing}, whose connection to the cache fails; it is tried again`,
          sinceMs: updatedAt,
          remedy: `Mend these caches; it is tried until ${ends}. \`invalidations cancel ${id}\` ends it`,
        },
      ]
    case Failed:
      return [
        {
          ...shared,
          message: `It was not done on ${missing} of ${total}: they may serve what was to be removed`,
          sinceMs: finishedAt ?? updatedAt,
          remedy: `\`invalidations get ${id}\` says why, \`invalidations retry ${id}\` tries it there again`,
        },
      ]
    default:
      return []
  }
}
