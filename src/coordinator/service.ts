/** The services passed to every use case. Only use cases write to the store. */
import type { Bus } from './bus/bus.js'
import type { Actor } from '../resources/permission.js'
import type { Scope } from './store/scope.js'
import type { StatisticsArchive } from './statistics/store/statistics-archive.js'
import type { Store } from './store/store.js'
import type { BackgroundWork } from './background.js'
import type { Leases } from './store/leases.js'
import type { LiveSamples } from './statistics/live-samples.js'

export interface StateService {
  readonly store: Store
  readonly bus: Bus
  readonly statistics: StatisticsArchive
  readonly liveSamples: LiveSamples
  /** Milliseconds since 1970; tests pass their own clock. */
  readonly now: () => number
  /** As permanent as the store: agents accept orders only from this coordinator id (docs/behaviour.md, Locked agents). */
  readonly coordinatorId: string
  readonly settings: ServiceSettings
  /** The fingerprint of the own CA that issued the listener's certificate; absent for another certificate or none. */
  readonly caFingerprint?: string
  readonly background: BackgroundWork
  /** The leases of periodic tasks, shared by all coordinators of the store. */
  readonly leases: Leases
  /** Called when a deploy has ended; `result`: `ok`, or the kind of its error. */
  readonly observeDeploy: (result: string, durationSeconds: number) => void
  /** Called when all agents have completed an invalidation, with the time since it was created. */
  readonly observeInvalidation: (durationSeconds: number) => void
  /** Called for each attempt to deliver an event to a webhook. */
  readonly observeDelivery: (type: string, isDelivered: boolean) => void
}

export interface ServiceSettings {
  /** Sent to agents; an agent is Down after three missed heartbeats. */
  readonly heartbeatMs: number
  /** Sent to agents: the interval between samples of counters. */
  readonly statsIntervalMs: number
  /** Access and refresh token lifetimes of the system administrator. */
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
  readonly apiLogDays: number
  /** The names of VCL files on the caches that groups may include. */
  readonly allowedIncludes: ReadonlySet<string>
  /** The modules that organizations' VCL may import. */
  readonly allowedModules: ReadonlySet<string>
  /** The networks that webhooks of all organizations may use, in addition to public internet addresses. */
  readonly webhookNetworks: readonly string[]
}

export function scopeOf(actor: Actor): Scope {
  return actor.organizationId === null
    ? { kind: 'all' }
    : { kind: 'organization', organizationId: actor.organizationId }
}
