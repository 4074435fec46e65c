/** An agent's configuration; the main program collects it from flags, environment and files. */
import type { Duplex } from 'node:stream'
import type { CheckConfig } from './check/source-checks.js'
import type { Takeover } from '../vcl/takeover.js'
import type { CoordinatorAddress } from './link/coordinator-http.js'

export interface AgentConfig {
  /** Version of this program; sent to the coordinator. */
  readonly agentVersion: string
  /** Letters, digits, dash. */
  readonly name: string
  /** Static tags. */
  readonly tags: readonly string[]
  /** The agent only reads from the cache; enforced where instructions are carried out and where the cache is healed. */
  readonly readOnly: boolean
  readonly coordinator: CoordinatorAddress
  /** Read at each use, so that a reloaded token takes effect at once. */
  readonly joinToken: () => Promise<string | undefined>
  readonly engine: EngineConfig
  /** Where the cache serves clients, as reported to the coordinator. */
  readonly http: { readonly host: string; readonly port: number }
  readonly takeover: Takeover
  /** With `adopt`: the VCL group that is shared by hosts with the same text. */
  readonly adoptGroup?: string | null
  /** Longest wait for the probes of a new VCL before it counts as loaded. */
  readonly warmupMs: number
  /** Names of counters that are sampled in addition to the usual ones. */
  readonly furtherCounters: readonly string[]
  /** Where Prometheus can scrape the counters of the cache. */
  readonly metricsListen: { readonly host: string; readonly port: number } | null
  /** Where load balancers can check whether to use the cache. */
  readonly healthListen?: { readonly host: string; readonly port: number } | null
  readonly checks: CheckConfig
  /** Runs tests of VCL in private caches; never if the agent is read-only or its cache simulated. */
  readonly tests?: boolean
  /** Header names, in lower case, whose values do not leave the host, in addition to those that never do. */
  readonly maskHeaders?: readonly string[]
  /** Query strings of URLs do not leave the host. */
  readonly maskQuery?: boolean
  /** Lines of the log per second that are read for figures of groups and domains; 0, absent: none. */
  readonly sampleRate?: number
  /** A folder for certificate files that the cache's manager reads as a member of its group; null, absent: below the state dir. */
  readonly tlsDir?: string | null
}

export type EngineConfig =
  | {
      readonly mode: 'attach'
      readonly host: string
      readonly port: number
      /** Null: the secret file of the running cache. */
      readonly secretFile: string | null
      /** The cache's `-n`, if known. */
      readonly workingDirectory: string | null
    }
  | {
      /** An engine in this process, over connections in memory. */
      readonly mode: 'simulated'
      readonly connect: () => Duplex
      readonly secret: Buffer
    }
