/** Converts a hello to the columns of the agent's row, and decides why the agent must not be changed yet. Pure. */
import { stateOfLiveAgent } from '../../resources/agent-state.js'
import { capabilities } from '../../resources/capability.js'
import { findSkew } from '../../resources/version-skew.js'
import { FleetError } from '../../errors.js'
import type { AgentDescription, EngineCondition } from '../../messages/agent-to-coordinator.js'
import { version } from '../../version.js'
import type { ConditionColumns, DescribedColumns } from '../fleet/agent-rows.js'

export interface RegisteredAgent {
  readonly agentId: number
  readonly organizationId: number | null
  readonly name: string
  readonly keyDigest: string
  /** The newest known revision, sent to the agent. */
  readonly desiredRevision: number
  readonly readOnly: boolean
  /** True if it enrolled just now. */
  readonly isNew: boolean
  /** It was Down or had not caught up when its last link ended: it is not Running until it has caught up. */
  readonly wasAway: boolean
  readonly draining: boolean
  /** Why it must not be changed, by its own report or by its coordinator id and revision. */
  readonly lockedBecause: string | null
}

/** The revision that every new agent starts with: the idle engine. */
export const firstRevision = 1
/** Conditions are one line; a longer one is cut. */
const lineLimit = 4096

/** Initial condition of a row: an agent that will be Locked is never shown as Running before it reports that. */
export function toFirstCondition(hello: AgentDescription, reason: string | null): ConditionColumns {
  const lockedBecause = hello.condition.lockedBecause ?? reason
  return toCondition({ ...hello.condition, lockedBecause }, { readOnly: isReadOnly(hello) })
}

/** Columns of a reported condition. */
export function toCondition(
  condition: EngineCondition,
  agent: { readonly readOnly: boolean },
): ConditionColumns {
  const { engineState, engineError, effectiveRevision, lockedBecause, cachePid = null } = condition
  const locked = lockedBecause !== null
  return {
    state: stateOfLiveAgent({ readOnly: agent.readOnly, locked, engineState }),
    engineState,
    engineError: engineError?.slice(0, lineLimit) ?? null,
    effectiveRevision: effectiveRevision === 0 ? null : effectiveRevision,
    lockedBecause: lockedBecause?.slice(0, lineLimit) ?? null,
    cachePid,
  }
}

/** Throws FleetError 'invalid'. */
export function refuseSkew(hello: AgentDescription): void {
  const skew = findSkew(version, hello.agentVersion)
  if (skew !== null) throw new FleetError('invalid', 'agent', skew)
}

/** The agent decides the same from the welcome; until it reports that, this coordinator must not send it changes. */
export function findLockReason(
  service: { readonly coordinatorId: string },
  knownRevision: number,
  hello: AgentDescription,
): string | null {
  if (hello.coordinatorId === null) return null
  if (hello.coordinatorId !== service.coordinatorId)
    return `is enrolled at coordinator ${hello.coordinatorId}, this is coordinator ${service.coordinatorId}`
  const { heldRevision } = hello.condition
  return heldRevision > knownRevision
    ? `holds revision ${heldRevision}, the coordinator knows ${knownRevision}`
    : null
}

export function isReadOnly(hello: AgentDescription): boolean {
  return !hello.capabilities.includes('deploy')
}

export function toDescribed(hello: AgentDescription): DescribedColumns {
  return {
    name: hello.name,
    agentVersion: hello.agentVersion,
    capabilities: JSON.stringify(capabilities.filter((name) => hello.capabilities.includes(name))),
    engineHost: hello.engine.host,
    enginePort: hello.engine.port,
    engineProduct: hello.engine.product ?? '',
    engineVersion: hello.engine.version,
    engineWorkingDirectory: hello.engine.workingDirectory,
    engineRevision: hello.engine.revision ?? '',
    hostName: hello.hostName ?? '',
    held: hello.held === undefined ? null : JSON.stringify(hello.held),
    logTrouble: hello.logTrouble?.slice(0, lineLimit) ?? null,
  }
}
