/** What every use case is given. The use cases are the only writers of the store. */
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
  /** Milliseconds since 1970; tests give their own. */
  readonly now: () => number
  /** Lives as long as the store: agents take the word of this coordinator only (docs/behaviour.md, Locked agents). */
  readonly coordinatorId: string
  readonly settings: ServiceSettings
  /** Of the CA that made the listener's certificate; left out where it has another's, or none. */
  readonly caFingerprint?: string
  readonly background: BackgroundWork
  /** The leases of periodic tasks that the coordinators of the store share. */
  readonly leases: Leases
  /** Told when a deploy ended: `ok`, or the kind of its error. */
  readonly observeDeploy: (result: string, durationSeconds: number) => void
  /** Told when all agents of an invalidation had done it, since it was made. */
  readonly observeInvalidation: (durationSeconds: number) => void
  /** Told of each attempt to deliver an event to a webhook. */
  readonly observeDelivery: (type: string, isDelivered: boolean) => void
}

export interface ServiceSettings {
  /** Told to agents; Down after three missed. */
  readonly heartbeatMs: number
  /** Told to agents: between samples of counters. */
  readonly statsIntervalMs: number
  /** Access and refresh token lifetimes of the system administrator. */
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
  readonly apiLogDays: number
  /** Names of the cache's own VCL that groups may include. */
  readonly allowedIncludes: ReadonlySet<string>
  /** Modules that VCL of organizations may import. */
  readonly allowedModules: ReadonlySet<string>
  /** Where webhooks of all organizations may lead, beside what is reached over the internet. */
  readonly webhookNetworks: readonly string[]
}

export function scopeOf(actor: Actor): Scope {
  return actor.organizationId === null
    ? { kind: 'all' }
    : { kind: 'organization', organizationId: actor.organizationId }
}
