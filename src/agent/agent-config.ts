/** An agent's configuration; where it comes from (flags, environment, files) is the main program's business. */
import type { Duplex } from 'node:stream'
import type { CheckConfig } from './check/source-checks.js'
import type { Takeover } from '../vcl/takeover.js'
import type { CoordinatorAddress } from './link/coordinator-http.js'

export interface AgentConfig {
  /** Of this program; sent to the coordinator. */
  readonly agentVersion: string
  /** Letters, digits, dash. */
  readonly name: string
  /** Static tags. */
  readonly tags: readonly string[]
  /** Only retrieves; enforced where instructions are carried out and where the cache is healed. */
  readonly readOnly: boolean
  readonly coordinator: CoordinatorAddress
  /** Read at each use, so that a reloaded token counts at once. */
  readonly joinToken: () => Promise<string | undefined>
  readonly engine: EngineConfig
  /** Where the cache serves clients, as reported. */
  readonly http: { readonly host: string; readonly port: number }
  readonly takeover: Takeover
  /** Under `adopt`: the VCL group that hosts with the same text share. */
  readonly adoptGroup?: string | null
  /** Longest wait for the probes of a new VCL before it counts as loaded. */
  readonly warmupMs: number
  /** Names of counters that are sampled beside the usual ones. */
  readonly furtherCounters: readonly string[]
  /** Where Prometheus may ask for the counters of the cache. */
  readonly metricsListen: { readonly host: string; readonly port: number } | null
  /** Where load balancers may ask whether the cache is to be used. */
  readonly healthListen?: { readonly host: string; readonly port: number } | null
  readonly checks: CheckConfig
  /** Runs tests of VCL in private caches; never when it is read-only or its cache simulated. */
  readonly tests?: boolean
  /** Names of headers, in lower case, that leave the host without their values, beside those that always do. */
  readonly maskHeaders?: readonly string[]
  /** Query strings of URLs do not leave the host. */
  readonly maskQuery?: boolean
  /** Lines of the log a second that are read for figures of groups and domains; 0, absent: none. */
  readonly sampleRate?: number
  /** A folder for files of certificates that the cache's manager reads by its group; null, absent: below the state dir. */
  readonly tlsDir?: string | null
}

export type EngineConfig =
  | {
      readonly mode: 'attach'
      readonly host: string
      readonly port: number
      /** Null: that of the running cache. */
      readonly secretFile: string | null
      /** The cache's `-n`, where it is known. */
      readonly workingDirectory: string | null
    }
  | {
      /** An engine in this process, over connections in memory. */
      readonly mode: 'simulated'
      readonly connect: () => Duplex
      readonly secret: Buffer
    }
