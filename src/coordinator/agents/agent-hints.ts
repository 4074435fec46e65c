/** Hints about agents on the bus. */
import {
  agentChangedSubject,
  agentDrainedSubject,
  agentRevokedSubject,
  desiredChangedSubject,
} from '../bus/subjects.js'
import type { StateService } from '../service.js'

/** State, report, tags or drift of these agents changed. */
export function notifyAgentsChanged(service: StateService, agentIds: readonly number[]): void {
  if (agentIds.length > 0) service.bus.publish(agentChangedSubject, { agentIds })
}

/** These agents have a new desired state; the trace id is that of the call that made it, and goes on to their logs. */
export function notifyDesiredChanged(
  service: StateService,
  agentIds: readonly number[],
  traceId: string,
): void {
  if (agentIds.length > 0) service.bus.publish(desiredChangedSubject, { agentIds, traceId })
}

/** These agents are drained, or no longer. */
export function notifyAgentsDrained(
  service: StateService,
  agentIds: readonly number[],
  draining: boolean,
): void {
  if (agentIds.length === 0) return
  service.bus.publish(agentDrainedSubject, { agentIds, draining })
  notifyAgentsChanged(service, agentIds)
}

export function notifyAgentRevoked(service: StateService, agentId: number): void {
  service.bus.publish(agentRevokedSubject, { agentIds: [agentId] })
}
