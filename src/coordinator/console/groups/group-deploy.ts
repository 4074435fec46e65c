/** How a deploy ended on each cache of a console group: one status for compile, one for deploy (docs/behaviour.md, Console VCL). */
import type { PlacementState } from '../../fleet/vcl-group.js'

export interface Outcome {
  /** HTTP status: 200, 202 in progress, 400 refused by the cache, 503 absent. */
  readonly statusCode: number
  readonly message: string
}

export interface CacheOutcome {
  readonly compilation: Outcome
  readonly deploy: Outcome
}

export type DeployEnd =
  /** Each entry shows the progress of its cache; its error refers to the author's lines. */
  | { readonly kind: 'begun'; readonly places: ReadonlyMap<number, DeployPlace> }
  /** No cache switched. Without failures no cache was asked: the fault was found without one. */
  | {
      readonly kind: 'uncompilable'
      readonly message: string
      readonly failures: ReadonlyMap<number, string> | null
    }
  | { readonly kind: 'unavailable'; readonly message: string }

export interface DeployPlace {
  readonly state: PlacementState
  readonly candidateState: 'pending' | 'loaded' | 'failed' | null
  readonly error: string | null
}

interface DeployedCache {
  readonly id: number
  /** Its agent is connected and its cache responds. */
  readonly isThere: boolean
}

export function judgeCache(end: DeployEnd, { id, isThere }: DeployedCache): CacheOutcome {
  if (end.kind === 'begun') return judgePlace(end.places.get(id), isThere)
  if (end.kind === 'unavailable') return both(503, end.message)
  const failure = end.failures === null ? end.message : end.failures.get(id)
  if (failure !== undefined) return refusedBy(failure)
  return isThere ? { compilation: compiled, deploy: { statusCode: 409, message: kept } } : away
}

function judgePlace(place: DeployPlace | undefined, isThere: boolean): CacheOutcome {
  const progress = place ? (place.candidateState ?? progressOf[place.state]) : 'pending'
  if (progress === 'failed') return refusedBy(place?.error ?? 'the cache gave no reason')
  if (!isThere) return progress === 'serving' ? { compilation: compiled, deploy: unheard } : away
  if (progress === 'serving') return { compilation: compiled, deploy: serving }
  return progress === 'loaded'
    ? { compilation: compiled, deploy: coming }
    : { compilation: coming, deploy: coming }
}

/** For a place without a candidate. */
const progressOf = {
  wanted: 'pending',
  applying: 'loaded',
  applied: 'serving',
  failed: 'failed',
} as const satisfies Record<PlacementState, string>

/** True if there are caches and all of them serve it. */
export function isDeployed(outcomes: readonly CacheOutcome[]): boolean {
  return (
    outcomes.length > 0 &&
    outcomes.every(
      ({ compilation, deploy }) => compilation.statusCode === 200 && deploy.statusCode === 200,
    )
  )
}

const kept = 'not deployed: what it served before serves on'
const compiled: Outcome = { statusCode: 200, message: 'it compiles' }
const serving: Outcome = { statusCode: 200, message: 'the cache serves it' }
/** An absent cache is not judged, not even by its earlier state. */
const unheard: Outcome = {
  statusCode: 503,
  message: 'the cache is not connected; this is what it served last',
}
const coming: Outcome = { statusCode: 202, message: 'the cache is still at it' }
const away = both(503, 'the cache is not there; it gets the VCL of its group when it is back')

function refusedBy(message: string): CacheOutcome {
  return {
    compilation: { statusCode: 400, message },
    deploy: { statusCode: 400, message: kept },
  }
}

function both(statusCode: number, message: string): CacheOutcome {
  return { compilation: { statusCode, message }, deploy: { statusCode, message } }
}
