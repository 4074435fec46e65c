/**
 * When an agent is sent its desired state: once for each revision, and again only when the answer is overdue or what is
 * recorded disagrees with what the agent says. Pure.
 */
import type { EngineCondition } from '../../messages/agent-to-coordinator.js'

export interface Offer {
  readonly revision: number
  readonly sentAtMs: number
  /** Null: no report yet. */
  readonly answer: { readonly atMs: number; readonly isRefusal: boolean } | null
}

/** What the store says of the agent. */
export interface KnownRevisions {
  readonly desiredRevision: number
  /** The newest one of which a report says that it is applied. */
  readonly recordedRevision: number | null
}

/**
 * After this time an agent that does not hold the revision never received it; from one that holds it and is done,
 * the report was lost.
 */
const resendAfterMs = 10_000
/** One load may take 120 s (docs/behaviour.md, Deploy); an agent that holds the revision is given that and a bit. */
const loadGraceMs = 150_000

/** `last`: the newest offer of this session; null before the first. Times are of one monotonic clock. */
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
  const { answer } = last
  if (answer === null) {
    const isLoading = condition.heldRevision === desiredRevision && !isEffective
    return nowMs - last.sentAtMs >= (isLoading ? loadGraceMs : resendAfterMs)
  }
  // The agent heals by itself what failed; it is asked again when it did, when its report got lost, when it had not tried.
  return (isEffective || answer.isRefusal) && nowMs - answer.atMs >= resendAfterMs
}
