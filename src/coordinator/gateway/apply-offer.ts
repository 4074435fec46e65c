/**
 * Decides when to send an agent its desired state: once per revision, and again only if the answer is overdue or the
 * recorded state disagrees with the agent's report. Pure.
 */
import { pauseAfter } from '../../runtime/backoff.js'
import type { EngineCondition } from '../../messages/agent-to-coordinator.js'

export interface Offer {
  readonly revision: number
  readonly sentAtMs: number
  /** How often this revision was sent in this session: 1 and more. */
  readonly times: number
  /** Null: no report yet. */
  readonly answer: { readonly atMs: number; readonly isRefusal: boolean } | null
}

/** The agent's revisions in the store. */
export interface KnownRevisions {
  readonly desiredRevision: number
  /** The newest revision reported as applied. */
  readonly recordedRevision: number | null
}

/**
 * After this time an agent that does not hold the revision has probably not received it; from one that holds it and is
 * done, the report was lost. Doubled with each further send: a fleet that is merely slow would be slowed down more.
 */
const resendAfterMs = 10_000
/** One load may take 120 s (docs/behaviour.md, Deploy); an agent that holds the revision gets that and a margin. */
const loadGraceMs = 150_000

/** `last` is the newest offer of this session, null before the first. Times are from one monotonic clock. */
export function needsApply(
  condition: Pick<EngineCondition, 'heldRevision' | 'effectiveRevision'>,
  last: Offer | null,
  known: KnownRevisions,
  nowMs: number,
): boolean {
  const { desiredRevision } = known
  const isEffective = condition.effectiveRevision === desiredRevision
  if (isEffective && known.recordedRevision === desiredRevision) return false
  if (last?.revision !== desiredRevision) return true
  const { answer, times } = last
  if (answer === null) {
    const isLoading = condition.heldRevision === desiredRevision && !isEffective
    return nowMs - last.sentAtMs >= (isLoading ? loadGraceMs : waitAfterSends(times))
  }
  // The agent retries failures by itself; it is asked again if it recovered, its report was lost, or it had not tried.
  return (isEffective || answer.isRefusal) && nowMs - answer.atMs >= resendAfterMs
}

function waitAfterSends(times: number): number {
  return pauseAfter(times, { firstMs: resendAfterMs, longestMs: loadGraceMs })
}
