/** Dependencies shared by all sessions of a gateway. */
import type { Logger } from 'pino'
import type { AgentToCoordinator } from '../../messages/agent-to-coordinator.js'
import type { RegisteredAgent } from '../registration/described-agent.js'
import type { Registrar } from '../registration/registrar.js'
import type { BackendRecorder } from '../backends/backend-recorder.js'
import type { ReportRecorder } from '../reports/agent-reports.js'
import type { HeartbeatRecorder } from '../reports/heartbeat.js'
import { rolloutObservedSubject } from '../bus/subjects.js'
import type { StateService } from '../service.js'
import { publishLogPart } from '../traffic/log-streams.js'
import type { SampleRecorder } from '../statistics/sample-recorder.js'
import type { Adopter } from './adopter.js'
import type { AgentSession } from './agent-session.js'
import type { DesiredSender } from './desired-sender.js'
import type { InvalidationDelivery } from './invalidation-delivery.js'

export interface SessionParts {
  readonly service: StateService
  readonly log: Logger
  readonly heartbeats: HeartbeatRecorder
  readonly reports: ReportRecorder
  readonly samples: SampleRecorder
  readonly backends: BackendRecorder
  readonly registrar: Registrar
  readonly sender: DesiredSender
  readonly adopter: Adopter
  readonly delivery: InvalidationDelivery
  /** Live sessions by agent id. */
  readonly sessions: Map<number, AgentSession>
  readonly helloTimeoutMs: number
}

const reportedKinds = [
  ...(['invalidated', 'drift', 'samples', 'backends'] as const),
  ...(['logLines', 'logEnded', 'observed'] as const),
] as const
type Reported = Extract<AgentToCoordinator, { readonly kind: (typeof reportedKinds)[number] }>

/** True for messages that do not change the session. */
export function isReported(message: AgentToCoordinator): message is Reported {
  return reportedKinds.some((kind) => kind === message.kind)
}

/** Returns at once. Throws MalformedMessage. */
export function recordReported(
  { service, delivery, reports, samples, backends }: SessionParts,
  agent: RegisteredAgent,
  message: Reported,
): void {
  const { agentId } = agent
  switch (message.kind) {
    case 'invalidated':
      delivery.take(agentId, message)
      return
    case 'drift':
      reports.recordDrift(agentId, message.drift, message.traceId)
      return
    case 'samples':
      samples.take(agent, message)
      return
    case 'backends':
      backends.record(agentId, message.vcls)
      return
    case 'observed': {
      const { group, session, isWhole, spans, probes } = message
      const seen = { agentId, group, session, isWhole, spans, probes }
      service.bus.publish(rolloutObservedSubject, seen)
      return
    }
    case 'logLines':
    case 'logEnded':
      publishLogPart(service.bus, agentId, message)
      return
  }
}
