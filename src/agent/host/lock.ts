/** Whether an agent may obey this coordinator (docs/behaviour.md, Locked agents). Pure. */
import type { Welcome } from '../../messages/coordinator-to-agent.js'

interface HeldWord {
  /** Null before the first enrolment: the agent obeys any coordinator. */
  readonly coordinatorId: string | null
  readonly heldRevision: number
  /** Set by `cachefleetd rollback` on the host. */
  readonly rolledBackTo: string | null
}

/** Why nothing may be changed until an administrator unlocks the agent; null when there is no reason. */
export function findLockReason(
  held: HeldWord,
  welcome: Pick<Welcome, 'coordinatorId' | 'revision'>,
): string | null {
  if (held.rolledBackTo !== null) return held.rolledBackTo
  if (held.coordinatorId === null) return null
  if (held.coordinatorId !== welcome.coordinatorId)
    return `is enrolled at coordinator ${held.coordinatorId}, this is coordinator ${welcome.coordinatorId}`
  if (held.heldRevision > welcome.revision)
    return `holds revision ${held.heldRevision}, the coordinator knows ${welcome.revision}`
  return null
}
