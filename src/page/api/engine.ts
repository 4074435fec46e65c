/** `/agents/{id}/…`: what a cache holds, as the cache itself answers. */
import { useObject, type LoadedObject } from './object.js'

/** Stays true while the agent tells of changes. */
export function useHeld<T>(agentId: number, what: string): LoadedObject<T> {
  return useObject(`/agents/${agentId}/${what}`, { follow: 'agent', id: agentId })
}

export interface Vcl {
  readonly name: string
  /** `active` or `available`. */
  readonly status: string
  /** auto, cold, warm or label */
  readonly state: string
  readonly temperature: string | null
  /** References; null while the child does not run. */
  readonly busy: number | null
  /** The VCL that a label stands for. */
  readonly label: string | null
}

export type Health = 'healthy' | 'sick' | 'auto'

export interface Backend {
  /** `<VCL>.<backend>` */
  readonly name: string
  readonly type: string | null
  /** What was set; without a probe `healthy` is shown for `auto` too. */
  readonly adminHealth: string
  /** Good ones of the latest probes; both 0 without a probe. */
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
  /** Empty: the one that every cache starts with. */
  readonly expression: string
}
