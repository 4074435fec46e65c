/**
 * What a deploy does next, from what its agents have reported (choices: 3, Deploy).
 *
 * Phase one: every chosen agent loads; only when each deployment has its min loaded do they switch, and nobody does
 * once that cannot be reached. Phase two: the answer is given when enough agents serve the new revision.
 */
import type { PlacementState } from '../fleet/vcl-group.js'

/** `failed`: the cache refused the VCL. `away`: the agent went Down, or can no longer be asked. */
export type LoadState = 'pending' | 'loaded' | 'failed' | 'away'

export interface LoadsInput {
  readonly deployments: readonly { readonly id: number; readonly min: number }[]
  readonly loads: readonly { readonly deploymentId: number; readonly state: LoadState }[]
  /** Since the deploy began. */
  readonly elapsedMs: number
  /** The caller's `wait`; 0: not at all. */
  readonly waitMs: number
}

export type LoadVerdict =
  /** Judge again when a report comes; `untilMs` of elapsed time changes the verdict too, null: only a report does. */
  | { readonly verdict: 'wait'; readonly untilMs: number | null }
  | { readonly verdict: 'switch' }
  /** `uncompilable`: 422. `unavailable`: 503. */
  | { readonly verdict: 'fail'; readonly reason: 'uncompilable' | 'unavailable' }

const defaultWaitMs = 60_000
const longestGraceMs = 30_000

/** Agents that still load when every deployment has its min are waited for until then, in ms since the deploy began. */
export function graceMs(waitMs: number): number {
  return Math.min((waitMs === 0 ? defaultWaitMs : waitMs) / 2, longestGraceMs)
}

export function judgeLoads({ deployments, loads, elapsedMs, waitMs }: LoadsInput): LoadVerdict {
  const counts = deployments.map(({ id, min }) => {
    const states = loads.filter((load) => load.deploymentId === id).map(({ state }) => state)
    const count = (wanted: LoadState): number => states.filter((state) => state === wanted).length
    return {
      min,
      asked: states.length,
      loaded: count('loaded'),
      pending: count('pending'),
      failed: count('failed'),
    }
  })
  const short = counts.filter(({ loaded, pending, min }) => loaded + pending < min)
  if (short.length > 0) {
    // The VCL is what is wrong when nobody took it, or when those that went away would not have helped.
    const refused = short.some(
      ({ asked, failed, loaded, min }) => failed > 0 && (asked - failed < min || loaded === 0),
    )
    return { verdict: 'fail', reason: refused ? 'uncompilable' : 'unavailable' }
  }
  if (counts.some(({ loaded, min }) => loaded < min)) return { verdict: 'wait', untilMs: null }
  const untilMs = graceMs(waitMs)
  const isComplete = counts.every(({ pending }) => pending === 0)
  return isComplete || elapsedMs >= untilMs ? { verdict: 'switch' } : { verdict: 'wait', untilMs }
}

/**
 * A stage goes to all of its agents or to none: one refusal is enough. Who is away gets it when it is back.
 */
export function judgeStageLoads(loads: readonly LoadState[]): LoadVerdict {
  const there = loads.filter((state) => state !== 'away')
  if (there.includes('failed')) return { verdict: 'fail', reason: 'uncompilable' }
  if (there.length === 0) return { verdict: 'fail', reason: 'unavailable' }
  return there.includes('pending') ? { verdict: 'wait', untilMs: null } : { verdict: 'switch' }
}

interface SwitchInput {
  /** Every place that the group has. `away`: its agent or cache does not answer; it goes forward when it does. */
  readonly places: readonly { readonly state: PlacementState | 'away' }[]
  /** 0 to 100: the share of the places that must have applied for an answer. */
  readonly percent: number
}

/** `done`: enough places have applied, or each that is not away has applied or failed. */
export function judgeSwitch({ places, percent }: SwitchInput): { readonly done: boolean } {
  const applied = places.filter(({ state }) => state === 'applied').length
  const there = places.filter(({ state }) => state !== 'away')
  const isSettled = there.every(({ state }) => state === 'applied' || state === 'failed')
  const isAnybodyThere = there.length > 0 || places.length === 0
  return { done: (isSettled && isAnybodyThere) || applied * 100 >= percent * places.length }
}
