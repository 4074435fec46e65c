/** What all sessions of a gateway share. */
import type { Logger } from 'pino'
import type { ReportRecorder } from '../reports/agent-reports.js'
import type { HeartbeatRecorder } from '../reports/heartbeat.js'
import type { StateService } from '../service.js'
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
  readonly sender: DesiredSender
  readonly adopter: Adopter
  readonly delivery: InvalidationDelivery
  /** The live ones by agent. */
  readonly sessions: Map<number, AgentSession>
  readonly helloTimeoutMs: number
}
