/** A freeze pauses a running rollout, which continues when the freeze ends; a rollback is not held. */
import { rolloutStates } from '../../resources/rollout.js'
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import { describeFreeze, readFreeze } from '../identity/freeze.js'
import type { StateService } from '../service.js'
import type { CourseStep } from './rollout-course.js'

type HeldRollout = Pick<
  RolloutRecord,
  'state' | 'reason' | 'organizationId' | 'startedAt' | 'waves'
>

/** Start of the reason: it distinguishes a pause by a freeze from one by a user or a gate. */
const held = 'held: '

export function isHeldByFreeze({
  state,
  reason,
}: Pick<RolloutRecord, 'state' | 'reason'>): boolean {
  return state === rolloutStates.Paused && reason?.startsWith(held) === true
}

/** Returns undefined if a freeze requires no step. A rollout that an administrator forced during the freeze continues. */
export async function findFreezeStep(
  { store, now }: Pick<StateService, 'store' | 'now'>,
  { state, reason, organizationId, startedAt, waves }: HeldRollout,
): Promise<CourseStep | undefined> {
  const { Switching, Baking } = rolloutStates
  const isHeld = isHeldByFreeze({ state, reason })
  if (!isHeld && state !== Switching && state !== Baking) return undefined
  const frozen = await readFreeze(store.queries, organizationId, now())
  if (isHeld) return frozen === null ? { do: 'bakeAnew' } : undefined
  if (frozen === null) return undefined
  const forcedAt = Math.max(startedAt, ...waves.map((wave) => wave.forcedAt ?? 0))
  if (forcedAt >= frozen.since) return undefined
  return { do: 'pause', verdict: null, reason: `${held}${describeFreeze(frozen)}` }
}
