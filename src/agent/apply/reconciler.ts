/**
 * The only place that changes a cache: applies desired states as they arrive and heals differences, one at a time.
 *
 * A newer `apply` supersedes a waiting one. VCL that does not load is remembered, so that healing does not compile it
 * again and again; a new revision or a restart of the cache clears that memory.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import { idleVclName, type DesiredEngine } from '../../vcl/desired-engine.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import type { SettingStep } from '../../vcl/settings-plan.js'
import { leaveHeldLabels } from '../../vcl/held-labels.js'
import { planVcl } from '../../vcl/plan.js'
import { leaveUnmanaged, isHeldForFirstDeploy, type Takeover } from '../../vcl/takeover.js'
import { findAdopted } from './adopt.js'
import { applyAll } from './apply-all.js'
import { joinDone, nothingDone, type ApplyResult, type Desire } from './apply-result.js'
import { applyDesired } from './apply-vcl.js'
import { findFeasible, findUrgent } from './feasible.js'
import { renderBootFile } from '../engine/boot-file.js'
import type { Certificates } from '../certificates/hold-certificates.js'
import type { SourceChecks } from '../check/source-checks.js'
import { errorText, type Engine } from '../engine/engine.js'
import { recognizeProcess } from './managed-vcls.js'
import { FailureMemory, retries } from './failure-memory.js'
import type { SavedState } from './saved-state.js'
import { findUnset } from './settings.js'
import type { SettingsMemory } from './settings-memory.js'
import type { Sources } from './sources.js'
import { pauseAfter } from '../../runtime/backoff.js'

interface ReconcilerOptions {
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
  readonly settings: SettingsMemory
  readonly takeover: Takeover
  readonly warmupMs: number
  readonly now: () => number
  readonly checks: SourceChecks
  readonly certificates: Certificates
}

interface Waiting {
  readonly desire: Desire
  readonly context: Context
  readonly settle: (result: ApplyResult) => void
}

const nothingLoaded: EngineInventory = { childRunning: false, vcls: [] }

const aloneLimit = 16

export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #failures: FailureMemory
  #waiting: Waiting | null = null
  readonly #alone: (() => Promise<void>)[] = []
  #isBusy = false
  #runs = 0
  #isStopping = false
  #effectiveRevision = 0
  #healAtMs = 0
  #healFailures = 0
  #lastRun: Promise<void> = Promise.resolve()
  /** The boot file or the history could not be written; retried at the next check. */
  #isUnkept = false

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#failures = new FailureMemory(options.now)
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** The newest revision that the cache was seen to satisfy since this agent started; 0 before. */
  get effectiveRevision(): number {
    return this.#effectiveRevision
  }

  /** Resolves when the current run is done. */
  async settle(): Promise<void> {
    await this.#lastRun
  }

  /** Like settle, but does not wait for probes. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#lastRun
  }

  /** Called when the source of the desired state changes: earlier observations are ignored. */
  forget(): void {
    this.#effectiveRevision = 0
    this.#cacheRestarted()
  }

  /** Errors of the earlier process may not occur in this one. */
  cacheRestarted(): void {
    this.#cacheRestarted()
  }

  /** Number of runs begun: an inventory that was read before a run must not be judged after it. */
  get runs(): number {
    return this.#runs
  }

  /** Resolves once, with the result; never rejects. */
  apply(desire: Desire, context: Context): Promise<ApplyResult> {
    return new Promise((settle) => {
      this.#waiting?.settle({
        result: 'refused',
        error: `superseded by revision ${desire.revision} before it was begun`,
      })
      this.#waiting = { desire, context, settle }
      if (!this.#isBusy) this.#beginNext()
    })
  }

  /** Runs work that no apply or healing may disturb, after waiting applies; rejects as the work does. */
  runAlone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#alone.length >= aloneLimit)
      return Promise.reject(new Error(`${aloneLimit} checks wait for this cache already`))
    return new Promise((resolve, reject) => {
      this.#alone.push(() => work().then(resolve, reject))
      if (!this.#isBusy) this.#beginNext()
    })
  }

  /** Returns parameters and backend health that differ from the desired state; rejects with errors of the connection. */
  async findUnset(context: Context): Promise<readonly SettingStep[]> {
    const { desired } = this.#options.state.record
    return desired === null ? [] : findUnset({ ...this.#options, context }, desired)
  }

  get hasTls(): boolean {
    return this.#options.certificates.hasListener
  }

  /** Describes certificates that differ from the desired state; rejects as `findUnset` does. */
  findCertificateDifferences(
    context: Context,
    { childRunning }: EngineInventory,
  ): Promise<readonly string[]> {
    return this.#options.certificates.findDifferences(context, childRunning)
  }

  /** True when the cache holds the feasible part of the desired state; notes the revision when it holds all of it. */
  isSatisfied(inventory: EngineInventory, unset: readonly unknown[]): boolean {
    const { state } = this.#options
    const { desired, heldRevision, ours, startUnfinished } = state.record
    if (desired === null) return true
    const known = this.#failures.listKnown()
    const feasible = findFeasible(desired, new Set(known.keys()), inventory)
    const managed = new Set([...ours, ...feasible.kept])
    const steps = planVcl({
      desired: feasible.desired,
      inventory,
      managed,
      startUnfinished,
    })
    const due = leaveHeldLabels(steps, inventory)
    const left = this.#isHeld(desired) ? leaveUnmanaged(due, inventory, managed) : due
    if (left.length > 0 || unset.length > 0) return false
    if (this.#failures.isEmpty) this.#effectiveRevision = heldRevision
    return true
  }

  /**
   * Returns null when it is too early to retry or another run is in progress. If the wrong VCL serves, the agent corrects
   * that before it loads VCL for later.
   */
  async heal(inventory: EngineInventory, context: Context): Promise<ApplyResult | null> {
    const { now, state } = this.#options
    const { desired, heldRevision } = state.record
    if (this.#isBusy || desired === null || now() < this.#healAtMs) return null
    return new Promise((settle) => {
      this.#begin(async () => {
        const desire = { revision: heldRevision, desired }
        const first = findUrgent(desired, inventory)
        const urgent = first && (await this.#run({ ...desire, desired: first }, context, 'urgent'))
        const result = joinDone(urgent, await this.#run(desire, context, 'heal'))
        this.#planHealing(result)
        settle(result)
      })
    })
  }

  /** Retries a failed write of the good state. */
  async keepGoodState(context: Context): Promise<void> {
    if (this.#isUnkept && !this.#isBusy) await this.#keep(context)
  }

  #begin(work: () => Promise<void>): void {
    this.#isBusy = true
    this.#runs += 1
    this.#lastRun = work().finally(() => {
      this.#isBusy = false
      this.#beginNext()
    })
  }

  #beginNext(): void {
    if (this.#waiting) this.#begin(() => this.#applyWaiting())
    else {
      const work = this.#alone.shift()
      if (work) this.#begin(work)
    }
  }

  async #applyWaiting(): Promise<void> {
    const waiting = this.#waiting
    if (!waiting) return
    this.#waiting = null
    const { desire, context, settle } = waiting
    const { heldRevision } = this.#options.state.record
    if (desire.revision < heldRevision) {
      const error = `revision ${desire.revision} is older than ${heldRevision}, which is held`
      settle({ result: 'refused', error })
      return
    }
    try {
      await this.#hold(desire, context)
    } catch (error) {
      context.log.error({ err: error }, 'a desired state could not be taken over')
      settle({ result: 'refused', error: `it cannot be held: ${errorText(error)}` })
      return
    }
    if (desire.revision > heldRevision) this.#forgetFailures()
    settle(await this.#run(desire, context, 'order'))
  }

  async #run(
    desire: Desire,
    context: Context,
    why: 'order' | 'heal' | 'urgent',
  ): Promise<ApplyResult> {
    const { state } = this.#options
    try {
      if (why === 'order') {
        const isNew = await recognizeProcess({ ...this.#options, context })
        if (isNew) this.#cacheRestarted()
      }
      const isHeld = this.#isHeld(desire.desired)
      const isUrgent = why === 'urgent'
      const outcome = await (isUrgent ? applyDesired : applyAll)({
        ...this.#options,
        context,
        desired: desire.desired,
        knownFailures: this.#failures.listKnown(),
        leaveUnmanaged: isHeld,
        // After a restart the cache serves nothing that would be worth waiting for.
        warmupMs: why === 'order' ? this.#options.warmupMs : 0,
        isSuperseded: () => this.#isStopping || this.#isNewerWaiting(desire),
      })
      this.#failures.remember(outcome.failures)
      if (!outcome.satisfied) return { result: 'failed', ...outcome }
      if (isUrgent) return { result: 'applied', ...outcome }
      this.#effectiveRevision = desire.revision
      this.#healFailures = 0
      if (!isHeld && !state.record.takenOver) await state.change({ takenOver: true })
      await this.#keep(context)
      return { result: 'applied', ...outcome }
    } catch (error) {
      if (!(error instanceof ManagementPortError))
        context.log.error({ err: error }, 'the desired state could not be applied')
      return { result: 'failed', ...nothingDone, error: errorText(error) }
    }
  }

  /** The same revision, sent again because its report was lost, does not count as newer. */
  #isNewerWaiting({ revision }: Desire): boolean {
    return this.#waiting !== null && this.#waiting.desire.revision !== revision
  }

  /** Rejects when it cannot be saved or the cache does not answer; the coordinator then sends it again. */
  async #hold(desire: Desire, context: Context): Promise<void> {
    const { state } = this.#options
    const { heldRevision, desired } = state.record
    planVcl({ desired: desire.desired, inventory: nothingLoaded, managed: new Set() }) // throws when it contradicts itself
    const isNew =
      desire.revision !== heldRevision || JSON.stringify(desired) !== JSON.stringify(desire.desired)
    if (!isNew) return
    // In one write: an adopted VCL must never be taken for unmanaged, even if this process dies.
    const ours = [...state.record.ours, ...(await this.#findAdopted(desire, context))]
    await state.change({ heldRevision: desire.revision, desired: desire.desired, ours })
  }

  #findAdopted({ desired }: Desire, context: Context): Promise<readonly string[]> {
    const { takeover, state } = this.#options
    const isFirst = takeover === 'adopt' && !state.record.takenOver
    return isFirst && desired.active !== idleVclName
      ? findAdopted({ ...this.#options, context }, desired)
      : Promise.resolve([])
  }

  /** Saves what serves now, for a cache or an agent that must start alone. */
  async #keep(context: Context): Promise<void> {
    const { state, sources, certificates } = this.#options
    const { desired, heldRevision, goodRevision } = state.record
    if (desired === null) return
    try {
      const isHeld = this.#isHeld(desired)
      if (!isHeld)
        await state.writeBootFile(() =>
          renderBootFile(state.record, desired, { sources, certificates }),
        )
      if (goodRevision !== heldRevision) await state.change({ goodRevision: heldRevision })
      await certificates.removeUnneeded()
      // If an unmanaged VCL serves, there is no known state to go back to.
      if (!isHeld) await state.keepGoodState()
      this.#isUnkept = false
    } catch (error) {
      if (!this.#isUnkept)
        context.log.error({ why: errorText(error) }, 'the good state could not be kept; trying on')
      this.#isUnkept = true
    }
  }

  #isHeld(desired: DesiredEngine): boolean {
    const { takeover, state } = this.#options
    return isHeldForFirstDeploy(takeover, state.record.takenOver, desired)
  }

  /** Retries after 5 s, 10 s, … up to 5 min. */
  #planHealing(result: ApplyResult): void {
    if (result.result === 'applied') {
      this.#healAtMs = 0
      return
    }
    this.#healFailures += 1
    this.#healAtMs = this.#options.now() + pauseAfter(this.#healFailures, retries)
  }

  #forgetFailures(): void {
    this.#failures.forget()
    this.#options.settings.refusals.forget()
    this.#options.certificates.forgetFailures()
  }

  #cacheRestarted(): void {
    this.#forgetFailures()
    this.#healAtMs = 0
    this.#healFailures = 0
  }
}
