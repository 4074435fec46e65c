/** Publishes hints about agents on the bus. */
import {
  agentChangedSubject,
  agentDrainedSubject,
  agentRevokedSubject,
  desiredChangedSubject,
} from '../bus/subjects.js'
import type { StateService } from '../service.js'

/** Announces changes of state, report, tags or drift of these agents. */
export function notifyAgentsChanged(service: StateService, agentIds: readonly number[]): void {
  if (agentIds.length > 0) service.bus.publish(agentChangedSubject, { agentIds })
}

/** Announces new desired states; the trace id of the call that made the change is passed on to the agents' logs. */
export function notifyDesiredChanged(
  service: StateService,
  agentIds: readonly number[],
  traceId: string,
): void {
  if (agentIds.length > 0) service.bus.publish(desiredChangedSubject, { agentIds, traceId })
}

/** Announces the start or end of a drain of these agents. */
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
