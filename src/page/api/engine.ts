/** `/agents/{id}/…`: the state of a cache as the cache itself reports it. */
import { useObject, type LoadedObject } from './object.js'

/** Is kept up to date while the agent reports changes. */
export function useHeld<T>(agentId: number, what: string): LoadedObject<T> {
  return useObject(`/agents/${agentId}/${what}`, { follow: 'agent', id: agentId })
}

export interface Vcl {
  readonly name: string
  /** `active` or `available`. */
  readonly status: string
  /** `auto`, `cold`, `warm` or `label`. */
  readonly state: string
  readonly temperature: string | null
  /** References; null while the child process is not running. */
  readonly busy: number | null
  /** The VCL that a label points to. */
  readonly label: string | null
}

export type Health = 'healthy' | 'sick' | 'auto'

export interface Backend {
  /** `<VCL>.<backend>` */
  readonly name: string
  readonly type: string | null
  /** The admin health that was set; without a probe `healthy` is also shown for `auto`. */
  readonly adminHealth: string
  /** Number of good results among the latest probes; `good` and `total` are 0 without a probe. */
  readonly good: number
  readonly total: number
  readonly isHealthy: boolean
  readonly lastChangeSeconds: number | null
}

export interface Parameter {
  readonly value: string
  readonly default: string
  readonly unit: string
  readonly description: string
}

export interface Ban {
  readonly timeSeconds: number
  readonly references: number
  readonly isCompleted: boolean
  /** Empty for the initial ban of every cache. */
  readonly expression: string
}
