/** Limits for compiles by organizations that do not own the agent: one at a time each, and a budget of CPU time. */
import { Semaphore } from '../../runtime/semaphore.js'
import {
  budgetCpuMs,
  budgetWindowMs,
  findWaitMs,
  keepRecent,
  type CompileCost,
} from '../../vcl/compile-limits.js'

/** Why an organization must wait. */
export interface MustWait {
  readonly reason: string
  readonly retryAfterSeconds: number
}

interface Account {
  costs: readonly CompileCost[]
  readonly semaphore: Semaphore
}

/** A check takes a tenth of a second, so a second concurrent request waits instead of being refused. */
const graceMs = 2_000
/** Costs within this time are merged into one. */
const mergedMs = 1_000

export class CompileBudgets {
  readonly #now: () => number
  readonly #accounts = new Map<number, Account>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Runs `work`, one at a time per organization, and records the cost that it returns. */
  async spend<Result>(
    organization: number,
    work: () => Promise<{ readonly result: Result; readonly cpuMs: number }>,
    waitMs = graceMs,
  ): Promise<{ readonly result: Result } | MustWait> {
    const account = this.#open(organization)
    if (!(await account.semaphore.acquireWithin(waitMs)))
      return { reason: oneAtATime, retryAfterSeconds: 2 }
    try {
      const leftMs = findWaitMs(account.costs, this.#now())
      if (leftMs > 0) return { reason: budgetUsed, retryAfterSeconds: Math.ceil(leftMs / 1000) }
      const { result, cpuMs } = await work()
      this.#note(account, cpuMs)
      return { result }
    } finally {
      account.semaphore.release()
    }
  }

  #open(organization: number): Account {
    this.#forgetOld()
    const account = this.#accounts.get(organization) ?? { costs: [], semaphore: new Semaphore() }
    this.#accounts.set(organization, account)
    return account
  }

  #note(account: Account, cpuMs: number): void {
    const endedAtMs = this.#now()
    const costs = keepRecent(account.costs, endedAtMs)
    const last = costs.at(-1)
    account.costs =
      last && endedAtMs - last.endedAtMs < mergedMs
        ? [...costs.slice(0, -1), { endedAtMs: last.endedAtMs, cpuMs: last.cpuMs + cpuMs }]
        : [...costs, { endedAtMs, cpuMs }]
  }

  #forgetOld(): void {
    for (const [organization, { costs, semaphore }] of this.#accounts)
      if (semaphore.isIdle && keepRecent(costs, this.#now()).length === 0)
        this.#accounts.delete(organization)
  }
}

const oneAtATime =
  'the organization compiles on this agent already, and may compile one text at a time there: try again when that has ended'
const budgetUsed = `the organization has used its ${budgetCpuMs / 1000} s of CPU time for compiling on this agent within ${budgetWindowMs / 60_000} minutes`
