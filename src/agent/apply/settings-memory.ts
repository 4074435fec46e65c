/**
 * What is known of settings beside the saved state: those the cache refused, and those just tried for a caller that
 * are not part of a desired state yet.
 */
import type { DesiredSettings } from '../../vcl/engine-settings.js'
import { findHealth } from '../../vcl/engine-settings.js'
import { FailureMemory } from './failure-memory.js'

/** By then a coordinator that tries a setting has stored it; if the coordinator died, the earlier desired value is restored. */
const trialMs = 15_000

interface Trial {
  /** Null: reset to the default, or health as probed. */
  readonly value: string | null
  readonly untilMs: number
}

export class SettingsMemory {
  readonly #now: () => number
  /** The engine's messages, by key. */
  readonly refusals: FailureMemory
  readonly #trials = new Map<string, Trial>()
  readonly #logged = new Set<string>()

  constructor(now: () => number) {
    this.#now = now
    this.refusals = new FailureMemory(now)
  }

  /** Keeps the value just set for `trialMs`, whatever is desired. */
  try(key: string, value: string | null): void {
    this.#trials.set(key, { value, untilMs: this.#now() + trialMs })
  }

  /** True the first time: a lasting problem is logged once. */
  isNews(what: string): boolean {
    const isNews = !this.#logged.has(what)
    this.#logged.add(what)
    return isNews
  }

  endTrial(key: string): void {
    this.#trials.delete(key)
  }

  /** Returns keys that must not be changed now. A trial ends when its time is over or its value is desired. */
  listSkipped(desired: DesiredSettings): Set<string> {
    const nowMs = this.#now()
    for (const [key, { value, untilMs }] of this.#trials)
      if (untilMs <= nowMs || readDesired(desired, key) === value) this.#trials.delete(key)
    return new Set([...this.#trials.keys(), ...this.refusals.listKnown().keys()])
  }
}

function readDesired(desired: DesiredSettings, key: string): string | null {
  const dot = key.indexOf('.')
  if (dot < 0) return desired.params?.find(({ name }) => name === key)?.value ?? null
  const health = findHealth(desired.health ?? [], key.slice(0, dot), key.slice(dot + 1))
  return health === 'auto' ? null : (health ?? null)
}
