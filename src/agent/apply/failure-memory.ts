/**
 * Remembers which VCLs did not load, and when to retry them: healing must not compile the same mistake every few seconds,
 * but an unresolved host name or a full disk may be fixed after a while.
 */
import type { ProgramFailure } from '../../messages/agent-to-coordinator.js'
import { pauseAfter } from '../../runtime/backoff.js'

interface Failure {
  readonly words: string
  readonly retryAtMs: number
  /** Consecutive. */
  readonly failures: number
}

export const retries = { firstMs: 5_000, longestMs: 300_000 }

export class FailureMemory {
  readonly #now: () => number
  readonly #failures = new Map<string, Failure>()

  constructor(now: () => number) {
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#failures.size === 0
  }

  /** Also true when a retry is due. */
  has(program: string): boolean {
    return this.#failures.has(program)
  }

  /** Returns failed programs with the engine's message, except those whose retry is due. */
  listKnown(): Map<string, string> {
    const nowMs = this.#now()
    const known = [...this.#failures].filter(([, failure]) => failure.retryAtMs > nowMs)
    return new Map(known.map(([program, { words }]) => [program, words]))
  }

  /** Replaces the known failures: a program that is no longer among them has loaded or is no longer desired. */
  remember(failures: readonly ProgramFailure[]): void {
    const nowMs = this.#now()
    const failed = new Map(failures.map(({ program, error }) => [program, error]))
    for (const program of this.#failures.keys())
      if (!failed.has(program)) this.#failures.delete(program)
    for (const [program, words] of failed) {
      const earlier = this.#failures.get(program)
      if (earlier && earlier.retryAtMs > nowMs) continue
      const failures = (earlier?.failures ?? 0) + 1
      const retryAtMs = nowMs + pauseAfter(failures, retries)
      this.#failures.set(program, { words, failures, retryAtMs })
    }
  }

  forget(): void {
    this.#failures.clear()
  }
}
