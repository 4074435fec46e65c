/**
 * Derives the reported state from observations of a cache. A cache that does not answer is Failing at once. One that answers again
 * is Running at once too, unless it recovered and failed before: then it must answer for a longer time after each failure, so
 * that a cache that dies at each start does not flap between the two states and deploys do not rely on it.
 */
import type { EngineState } from '../../resources/agent-state.js'
import { pauseAfter } from '../../runtime/backoff.js'

export interface EngineObservation {
  readonly engineState: EngineState
  readonly engineError: string | null
}

/** Older failures are ignored. */
const memoryMs = 300_000
/** After the second failure; doubles with each further one. With the checks it stays well below the 30 s for recovery after a fault. */
const probation = { firstMs: 2_000, longestMs: 10_000 }
const failuresKept = 16

export class FlapDamper {
  #isRunning = false
  /** Times at which it failed after it was reported as running. */
  #failures: readonly number[] = []
  #wellSince: number | null = null

  /** `nowMs` never decreases. */
  judge(observation: EngineObservation, nowMs: number): EngineObservation {
    if (observation.engineState !== 'running') {
      if (this.#isRunning) this.#failures = [...this.#failures, nowMs].slice(-failuresKept)
      this.#isRunning = false
      this.#wellSince = null
      return observation
    }
    if (this.#isRunning) return observation
    this.#wellSince ??= nowMs
    this.#failures = this.#failures.filter((at) => at > nowMs - memoryMs)
    const leftMs = this.#wellSince + probationMs(this.#failures.length) - nowMs
    if (leftMs <= 0) {
      this.#isRunning = true
      return observation
    }
    const often = `it failed ${this.#failures.length} times within ${memoryMs / 60_000} minutes`
    const engineError = `the cache answers again, but ${often}: it must answer for ${Math.ceil(leftMs / 1000)} s more`
    return { engineState: 'unknown', engineError }
  }
}

function probationMs(failures: number): number {
  return failures < 2 ? 0 : pauseAfter(failures - 1, probation)
}
