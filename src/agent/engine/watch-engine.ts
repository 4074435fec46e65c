/**
 * Checks the cache periodically: reports its state, and heals what is no longer as desired, with or without a coordinator.
 *
 * A check sends pid, status, vcl.list and backend.list. It runs every 5 s or with each heartbeat, whichever is more often,
 * and at once when a connection to the cache is made or lost, so that a change by somebody else is noticed within 10 s
 * (docs/behaviour.md, Drift).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import { describeSetting, keyOf, type SettingStep } from '../../vcl/settings-plan.js'
import type { Drift } from '../../messages/agent-to-coordinator.js'
import type { Logger } from 'pino'
import { describeDifferences, findUnmanaged } from '../apply/drift.js'
import { errorText, type Engine } from './engine.js'
import { readInventory, readProcesses, type EngineProcesses } from '../apply/inventory.js'
import { isKnownProcess, recognizeProcess } from '../apply/managed-vcls.js'
import { keepPanic } from './panic.js'
import type { ApplyResult } from '../apply/apply-result.js'
import type { Reconciler } from '../apply/reconciler.js'
import type { SavedState } from '../apply/saved-state.js'
import type { SettingsMemory } from '../apply/settings-memory.js'
import type { Sources } from '../apply/sources.js'
import { FlapDamper, type EngineObservation } from './flap-damper.js'
import { findStoppingChild } from './stopping-child.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

interface WatchOptions {
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
  readonly settings: SettingsMemory
  readonly reconciler: Reconciler
  /** True when this agent may change its cache now: not read-only, not locked, enrolled. */
  readonly mayChange: () => boolean
  /** Called with each check of a cache whose child is running. */
  readonly checkBackends: (context: Context, inventory: EngineInventory) => Promise<void>
  /** Called after each check. */
  readonly seen: () => void
  readonly drifted: (drift: Drift, context: Context) => void
  readonly healed: (result: ApplyResult, context: Context) => void
  readonly now: () => number
  readonly log: Logger
}

/** The result of one check. */
interface SeenCache {
  readonly inventory: EngineInventory
  readonly unset: readonly SettingStep[]
  /** Differences of certificates from the desired state, as text. */
  readonly certificates: readonly string[]
  /** The cache or its child restarted: missing VCL is then no drift. */
  readonly isRestart: boolean
}

const running: EngineObservation = { engineState: 'running', engineError: null }
const stopped: EngineObservation = {
  engineState: 'stopped',
  engineError: 'the child process of the cache does not run',
}

const longestPauseMs = 5_000
/** The lower bound for any heartbeat interval, and the interval while something is wrong. */
const shortestPauseMs = 1_000
/** The caches of a fleet change together: their checks follow the reports of the change, spread over as much again. */
const afterChangeMs = 1_000
/** Time a check waits before it asks the host whether the child is stopping; a running cache answers in milliseconds. */
const silenceMs = 1_000

export class EngineWatch {
  readonly #options: WatchOptions
  #observation: EngineObservation = {
    engineState: 'unknown',
    engineError: 'the cache was not reached yet',
  }
  readonly #damper = new FlapDamper()
  #processes: EngineProcesses | null = null
  #inventory: EngineInventory | null = null
  #openDrift: Drift | null = null
  #pauseMs = longestPauseMs
  readonly #loop: Loop

  constructor(options: WatchOptions) {
    this.#options = options
    this.#loop = startLoop({
      log: options.log,
      trouble: 'the cache could not be checked',
      everyMs: shortestPauseMs,
      firstMs: null,
      pass: async ({ context, nextIn }) => {
        await this.#check(context)
        options.seen()
        if (this.#observation.engineState === 'running') nextIn(this.#pauseMs)
      },
    })
  }

  get observation(): EngineObservation {
    return this.#observation
  }

  /** The pid of the cache's manager, as last seen. */
  get cachePid(): number | null {
    return this.#processes?.masterPid ?? null
  }

  /** What the cache held at the last check; null before the first. */
  get inventory(): EngineInventory | null {
    return this.#inventory
  }

  setHeartbeat(heartbeatMs: number): void {
    this.#pauseMs = Math.max(shortestPauseMs, Math.min(longestPauseMs, heartbeatMs))
  }

  /** Checks now, or once more after a running check; resolves when that is done. */
  checkNow(): Promise<void> {
    return this.#loop.runNow()
  }

  /** Called after a change by this agent, which may have started the child; of a running one only the backends may be others. */
  noteChange(): void {
    if (this.#observation.engineState === 'running')
      this.#loop.wake(afterChangeMs * (1 + Math.random()))
    else void this.checkNow()
  }

  stop(): Promise<void> {
    return this.#loop.close()
  }

  #isReached(): boolean {
    return this.#options.engine.error === null
  }

  async #check(context: Context): Promise<void> {
    const { engine, reconciler, state, now } = this.#options
    if (state.trouble !== null) await state.tryAgain()
    // The current run already asks the cache all of this and more.
    if (this.#isReached() && (engine.isLoading || reconciler.isBusy)) {
      await this.#seeStoppingChild()
      return
    }
    const observation = this.#isReached()
      ? await this.#seeWithinSilence(context)
      : ({ engineState: 'unreachable', engineError: engine.error } as const)
    if (observation.engineState !== 'running' && (await this.#seeStoppingChild())) return
    this.#observation = this.#damper.judge(observation, now())
  }

  /** Like `#see`; while the cache does not answer, it checks the child's process from outside. */
  async #seeWithinSilence(context: Context): Promise<EngineObservation> {
    const seeing = this.#see(context)
    if (!this.#options.engine.isOfThisHost) return seeing
    const answered = seeing.then(() => true)
    while (!(await Promise.race([answered, wait(silenceMs, false, { ref: false })])))
      if (await this.#seeStoppingChild()) this.#options.seen()
    return seeing
  }

  async #seeStoppingChild(): Promise<boolean> {
    const { engine, log, now } = this.#options
    const stopping = await findStoppingChild(engine, this.#processes?.workerPid ?? null)
    if (!stopping) return false
    if (this.#observation.engineError !== stopping.engineError)
      log.warn({ why: stopping.engineError }, 'the cache is stopping')
    this.#observation = this.#damper.judge(stopping, now())
    return true
  }

  async #see(context: Context): Promise<EngineObservation> {
    try {
      return await this.#askCache(context)
    } catch (error) {
      if (!(error instanceof ManagementPortError))
        context.log.error({ err: error }, 'the cache could not be checked')
      const engineState = this.#isReached() ? 'unknown' : 'unreachable'
      return { engineState, engineError: errorText(error) }
    }
  }

  async #askCache(context: Context): Promise<EngineObservation> {
    const { engine, reconciler, mayChange } = this.#options
    const processes = await readProcesses(engine, context)
    const isNewProcess = await this.#recognize(context, processes)
    const { runs } = reconciler
    const inventory = await readInventory(engine, context)
    this.#inventory = inventory
    const isFirst = this.#processes === null
    const isRestart = this.#noteProcesses(processes) || isNewProcess
    const unset = mayChange() ? await reconciler.findUnset(context) : []
    if (isRestart) reconciler.cacheRestarted()
    const certificates = mayChange()
      ? await reconciler.findCertificateDifferences(context, inventory)
      : []
    // A run that began meanwhile reconciles the cache itself.
    if (reconciler.runs === runs && mayChange())
      await this.#heal(context, { inventory, unset, certificates, isRestart })
    // Without a pid a new child cannot be detected.
    if (isFirst || isRestart || processes.workerPid === null)
      await keepPanic({ ...this.#options, context }, mayChange())
    if (inventory.childRunning) {
      await this.#options.checkBackends(context, inventory)
      return running
    }
    // Healing may have started the child.
    const { childRunning } = await readInventory(engine, context)
    return childRunning ? running : stopped
  }

  async #recognize(context: Context, processes: EngineProcesses): Promise<boolean> {
    const { reconciler, mayChange } = this.#options
    if (!mayChange() || isKnownProcess(this.#options, processes)) return false
    return reconciler.runAlone(() => recognizeProcess({ ...this.#options, context }))
  }

  #noteProcesses(processes: EngineProcesses): boolean {
    const before = this.#processes
    this.#processes = processes
    if (before === null) return false
    // Without a pid, a new connection counts as a restart, which explains whatever is missing.
    const isOther = processes.masterPid === null && before.connection !== processes.connection
    return isOther || before.workerPid !== processes.workerPid
  }

  async #heal(context: Context, seen: SeenCache): Promise<void> {
    const { reconciler, state } = this.#options
    const { inventory, unset, certificates, isRestart } = seen
    if (reconciler.isSatisfied(inventory, [...unset, ...certificates])) {
      this.#closeDrift(context)
      await reconciler.keepGoodState(context)
      return
    }
    const { goodRevision, heldRevision } = state.record
    if (!isRestart && goodRevision === heldRevision && !this.#isRetry(seen))
      this.#noteDrift(context, seen)
    const result = await reconciler.heal(inventory, context)
    if (result === null) return
    this.#reportDrift(context, result)
    this.#options.healed(result, context)
  }

  /** True when only refused settings are left and their retry is due. */
  #isRetry({ inventory, unset, certificates }: SeenCache): boolean {
    const { reconciler, settings } = this.#options
    if (certificates.length > 0) return false
    const isRefused = (step: SettingStep) => settings.refusals.has(keyOf(step))
    return unset.every(isRefused) && reconciler.isSatisfied(inventory, [])
  }

  #noteDrift(context: Context, { inventory, unset, certificates }: SeenCache): void {
    const { desired, ours } = this.#options.state.record
    if (this.#openDrift || desired === null) return
    const known = new Set(ours)
    const at = this.#isoNow()
    const differences = [
      ...describeDifferences(desired, inventory, known),
      ...unset.map((step) => `to be done: ${describeSetting(step)}`),
      ...certificates,
    ]
    // Only labels that had to stay for a while: nobody else changed the cache.
    if (differences.length === 0) return
    context.log.warn({ differences }, 'the cache is not as desired')
    this.#openDrift = { at, foreign: findUnmanaged(inventory, known), action: '', healedAt: null }
  }

  /** Something other than healing fixed the drift: an apply, or the person who caused it. */
  #closeDrift(context: Context): void {
    const drift = this.#openDrift
    this.#openDrift = null
    if (!drift || drift.action === '') return
    this.#options.drifted({ ...drift, healedAt: this.#isoNow() }, context)
  }

  #isoNow(): string {
    return new Date(this.#options.now()).toISOString()
  }

  /** Reports a drift once when it could not be healed, and once when it was. */
  #reportDrift(context: Context, result: ApplyResult): void {
    const drift = this.#openDrift
    if (!drift) return
    const isHealed = result.result === 'applied'
    const done = result.result === 'refused' ? [] : result.done
    const action = isHealed
      ? done.join('; ')
      : `not healed yet: ${result.error ?? 'see the report'}`
    const healedAt = isHealed ? this.#isoNow() : null
    const isReported = drift.action !== ''
    this.#openDrift = isHealed ? null : { ...drift, action }
    if (isHealed || !isReported) this.#options.drifted({ ...drift, action, healedAt }, context)
  }
}
