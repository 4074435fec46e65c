/**
 * Checks whether a cache would accept a VCL, outside the cache: its manager has one thread for all commands, so long compiles
 * and mere checks run in a private manager of the same program.
 */
import type { Context } from '../../context.js'
import {
  checkLimits,
  describeLimits,
  loadLimits,
  mayExceed,
  type CompileBudget,
  type CompileLimits,
} from '../../vcl/compile-limits.js'
import type { CompileVerdict } from '../../vcl/compile-verdict.js'
import type { CompileAnswer } from '../../messages/answers.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'
import { Semaphore } from '../../runtime/semaphore.js'
import type { Engine } from '../engine/engine.js'
import { removeLeftFolders } from './check-folder.js'
import { CompileBudgets, type MustWait } from './compile-budgets.js'
import { compilePrivately, type CompileDepth } from './compile-privately.js'
import { LiveCompiler, type LiveSettings } from './live-compiler.js'
import { longestCompileMs, type PrivateRun } from './private-manager.js'

export interface CheckConfig {
  /** The cache's program; null: search for it. */
  readonly program: string | null
  /** Limits for each text of an organization on an agent that it does not own. */
  readonly budgetLimits: CompileLimits
}

interface SourceChecksOptions extends CheckConfig {
  readonly engine: Engine
  /** The agent's state dir; null: an agent without one, which runs no programs. */
  readonly owner: string | null
  readonly now: () => number
}

interface CheckedText {
  readonly text: string
  readonly budget?: CompileBudget | undefined
}

/** A text that the cache is not asked to load; the message is for its author. */
export class LoadRefusal extends Error {
  override readonly name = 'LoadRefusal'
}

/** Limits for running and waiting checks: each may use the memory that its limits allow. */
const runningLimit = 4
const waitingLimit = 16
/** Number of stored verdicts: a known text is not compiled again for each retry. */
const knownLimit = 256
/** A deploy waits for its organization's checks as long as one of them may take. */
const deployGraceMs = 30_000

export class SourceChecks {
  readonly #options: SourceChecksOptions
  readonly #live: LiveCompiler
  readonly #budgets: CompileBudgets
  readonly #semaphore = new Semaphore({
    permits: runningLimit,
    maxWaiting: waitingLimit,
    refuse: () => new Error(`${waitingLimit} checks wait on this agent already`),
  })
  /** By SHA-256; null: it may be loaded. */
  readonly #known = createBoundedCache<string, { readonly error: string | null }>(knownLimit)
  readonly #ending = new AbortController()

  constructor(options: SourceChecksOptions) {
    this.#options = options
    this.#live = new LiveCompiler(options.engine, options.program)
    this.#budgets = new CompileBudgets(options.now)
  }

  /** Removes what an earlier process of this agent left if it was killed. */
  async removeLeftovers(): Promise<void> {
    const { owner } = this.#options
    if (owner !== null) await removeLeftFolders(owner)
  }

  /** Ends running compiles. */
  stop(): void {
    this.#ending.abort()
  }

  /** Null: the live cache must be asked. Rejects with errors of the connection to the cache. */
  async check(
    context: Context,
    { text, budget, init }: CheckedText & { readonly init: boolean },
  ): Promise<CompileAnswer | null> {
    const settings = await this.findSettings(context)
    if ('missing' in settings)
      return this.#mustNotAskLive(budget) ? unavailable(settings.missing) : null
    const base = init ? loadLimits : checkLimits
    const limits = budget ? leastOf(base, this.#options.budgetLimits, init) : base
    const depth = init ? 'init' : 'read'
    const outcome = await this.#semaphore.run(() =>
      this.spend(budget, () => this.#compile(context, settings, { text, limits, depth })),
    )
    if ('reason' in outcome)
      return { error: outcome.reason, retryAfterSeconds: outcome.retryAfterSeconds }
    const judged = describeOutcome(outcome.result, limits, budget)
    if (judged.kind === 'verdict') return { error: judged.error }
    context.log.warn({ why: judged.reason }, 'no private manager answers')
    return this.#mustNotAskLive(budget) ? unavailable(judged.reason) : null
  }

  /** Resolves when the live cache may be asked to load the text. Throws LoadRefusal; rejects with errors of the connection. */
  async requireLoadable(
    context: Context,
    { sha, text, budget }: CheckedText & { readonly sha: string },
  ): Promise<void> {
    const limits = this.limitsOf(budget)
    const isLarge = mayExceed(Buffer.byteLength(text), limits, budget !== undefined)
    if (!isLarge && !budget) return
    const key = budget ? `${budget.organization} ${sha}` : sha
    // An organization's small text is only parsed: the live compiler's messages about labels would reveal those of others.
    const depth = isLarge ? 'compile' : 'read'
    const known = this.#known.get(key)
    const error = known
      ? known.error
      : await this.#judgeLoad(context, { text, budget, limits, depth }, key)
    if (error !== null) throw new LoadRefusal(error)
  }

  /** Null: it may be loaded, or that cannot be determined. */
  async #judgeLoad(
    context: Context,
    order: CheckedText & { readonly limits: CompileLimits; readonly depth: CompileDepth },
    key: string,
  ): Promise<string | null> {
    const settings = await this.findSettings(context)
    if ('missing' in settings) return null
    const { budget, limits } = order
    const compile = () => this.#compile(context, settings, order)
    const outcome = await this.spend(budget, compile, deployGraceMs)
    if ('reason' in outcome) return `${outcome.reason}; try again in ${outcome.retryAfterSeconds} s`
    const judged = describeOutcome(outcome.result, limits, budget)
    if (judged.kind === 'broken') {
      context.log.warn(
        { why: judged.reason },
        'no private manager answers: the cache itself compiles',
      )
      return null
    }
    if (!judged.isPassing) this.#known.set(key, { error: judged.error })
    return judged.error
  }

  /** False for a simulated engine, which compiles nothing and belongs to one agent. */
  #mustNotAskLive(budget: CompileBudget | undefined): boolean {
    return budget !== undefined && this.#options.engine.isOfThisHost
  }

  /** The settings with which the live cache compiles. Rejects with errors of the connection. */
  async findSettings(context: Context): Promise<LiveSettings | { readonly missing: string }> {
    if (this.#options.owner === null || !this.#options.engine.isOfThisHost)
      return { missing: 'the cache is simulated' }
    return this.#live.find(context)
  }

  async #compile(
    context: Context,
    settings: LiveSettings,
    order: { text: string; limits: CompileLimits; depth: CompileDepth },
  ): Promise<{ result: PrivateRun<CompileVerdict>['outcome']; cpuMs: number }> {
    const { engine, owner } = this.#options
    const { signal } = this.#ending
    const startedAt = performance.now()
    const run = await compilePrivately({
      ...order,
      settings,
      engine,
      context,
      signal,
      owner: owner ?? '',
    })
    const tookMs = Math.round(performance.now() - startedAt)
    const { outcome, cpuMs } = run
    context.log.info(
      { cpuMs, tookMs, depth: order.depth, ended: outcome.kind },
      'compiled beside the cache',
    )
    return { result: outcome, cpuMs }
  }

  limitsOf(budget: CompileBudget | undefined): CompileLimits {
    return budget ? this.#options.budgetLimits : loadLimits
  }

  /** Charges the work to the organization's budget, if there is one. */
  async spend<Result>(
    budget: CompileBudget | undefined,
    work: () => Promise<{ readonly result: Result; readonly cpuMs: number }>,
    graceMs?: number,
  ): Promise<{ readonly result: Result } | MustWait> {
    return budget ? this.#budgets.spend(budget.organization, work, graceMs) : work()
  }
}

type CheckOutcome =
  /** `isPassing`: the verdict may differ at the next attempt. */
  | { readonly kind: 'verdict'; readonly error: string | null; readonly isPassing: boolean }
  | { readonly kind: 'broken'; readonly reason: string }

function describeOutcome(
  outcome: PrivateRun<CompileVerdict>['outcome'],
  limits: CompileLimits,
  budget: CompileBudget | undefined,
): CheckOutcome {
  if (outcome.kind === 'broken') return outcome
  const verdict = outcome.kind === 'done' ? outcome.result : outcome
  switch (verdict.kind) {
    case 'compiles':
      return { kind: 'verdict', error: null, isPassing: false }
    case 'refused':
      return { kind: 'verdict', error: verdict.text, isPassing: false }
    case 'exceeded':
      return {
        kind: 'verdict',
        error: describeExcess(verdict.limit, limits, budget),
        isPassing: verdict.limit === 'time',
      }
  }
}

function describeExcess(
  limit: 'cpu' | 'memory' | 'time',
  limits: CompileLimits,
  budget: CompileBudget | undefined,
): string {
  if (limit === 'time')
    return `this VCL did not compile within ${longestCompileMs / 1000} s: the host is busy, or the VCL is too large; try again later, or make it smaller`
  const whose = budget
    ? ' an organization has for a text on an agent that is not its own (--tenant-compile there)'
    : ' a text may take on a cache'
  const what = limit === 'cpu' ? 'CPU time' : 'memory'
  return `this VCL takes too much ${what} to compile: more than the ${describeLimits(limits)} that${whose}; make it smaller`
}

function leastOf(a: CompileLimits, b: CompileLimits, isCompiled: boolean): CompileLimits {
  if (isCompiled) return b
  return {
    cpuMs: Math.min(a.cpuMs, b.cpuMs),
    memoryBytes: Math.min(a.memoryBytes, b.memoryBytes),
  }
}

function unavailable(why: string): CompileAnswer {
  return {
    error: `VCL of an organization cannot be checked on this shared agent: ${why}; name the cache's program with --engine-program there`,
    unavailable: true,
  }
}
