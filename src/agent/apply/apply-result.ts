/** Input and result of the reconciler: the desired state of a cache, and how applying it ended. */
import type { ReportedCertificate } from '../../vcl/desired-certificates.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import type { ApplyOutcome } from './apply-vcl.js'

export interface Desire {
  readonly revision: number
  readonly desired: DesiredEngine
}

export interface WholeOutcome extends ApplyOutcome {
  /** One entry per desired certificate; absent when the cache could not be read at the end. */
  readonly certificates?: readonly ReportedCertificate[]
}

/** `refused`: nothing was tried. */
export type ApplyResult =
  | ({ readonly result: 'applied' | 'failed' } & WholeOutcome)
  | { readonly result: 'refused'; readonly error: string }

export const nothingDone = {
  satisfied: false,
  changed: false,
  loaded: [],
  failures: [],
  postponed: [],
  done: [],
  interrupted: true,
} satisfies Omit<ApplyOutcome, 'error'>

export function joinDone(earlier: ApplyResult | null, result: ApplyResult): ApplyResult {
  if (earlier === null || earlier.result === 'refused' || result.result === 'refused') return result
  const done = [...earlier.done, ...result.done]
  return { ...result, done, changed: earlier.changed || result.changed }
}
