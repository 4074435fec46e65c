/** Hints about agents on the bus: what they carry, told and read in one place. A hint may be lost; the rows are the truth. */
import { agentChangedSubject, agentRevokedSubject, desiredChangedSubject } from '../bus/bus.js'
import type { StateService } from '../service.js'

/** State, report, tags or drift of these agents changed. */
export function tellAgentsChanged(service: StateService, agentIds: readonly number[]): void {
  if (agentIds.length > 0) service.bus.publish(agentChangedSubject, { agentIds })
}

/** These agents have a new desired state; the trace id is that of the call that made it, and goes on to their logs. */
export function tellDesiredChanged(
  service: StateService,
  agentIds: readonly number[],
  traceId: string,
): void {
  if (agentIds.length > 0) service.bus.publish(desiredChangedSubject, { agentIds, traceId })
}

export function tellAgentRevoked(service: StateService, agentId: number): void {
  service.bus.publish(agentRevokedSubject, { agentIds: [agentId] })
}

/** The ids that a hint names; empty when it is no such hint. */
export function readAgentIds(hint: unknown): readonly number[] {
  const ids = isRecord(hint) ? hint['agentIds'] : undefined
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : []
}

export function readTraceId(hint: unknown): string | undefined {
  const traceId = isRecord(hint) ? hint['traceId'] : undefined
  return typeof traceId === 'string' ? traceId : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
