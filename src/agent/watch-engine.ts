/**
 * Looks at the cache again and again: says how it is, and heals what is no longer as desired, with or without a coordinator.
 *
 * A look asks ping, status, pid and vcl.list. It comes every five seconds or with each heartbeat, whichever is more often,
 * and at once when a connection to the cache is made or lost: what somebody changed is noticed within 10 s (choices: 3, Drift).
 */
import { ping } from '../../protocol/commands/process.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { createContext, type Context } from '../context.js'
import type { EngineState } from '../domain/agent-state.js'
import type { EngineInventory } from '../domain/engine-inventory.js'
import type { Drift } from '../messages/agent-to-coordinator.js'
import type { Logger } from 'pino'
import { describeDifferences, findForeign } from './drift.js'
import { errorText, type Engine } from './engine.js'
import { readInventory, readProcesses, type EngineProcesses } from './inventory.js'
import { recognizeProcess } from './ours.js'
import type { ApplyResult, Reconciler } from './reconciler.js'
import type { SavedState } from './saved-state.js'
import type { Sources } from './sources.js'

export interface WatchOptions {
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
  readonly reconciler: Reconciler
  /** Whether this agent may change its cache now: not read-only, not locked, enrolled. */
  readonly mayChange: () => boolean
  /** After each look. */
  readonly seen: () => void
  readonly drifted: (drift: Drift, context: Context) => void
  readonly healed: (result: ApplyResult, context: Context) => void
  readonly now: () => number
  readonly log: Logger
}

export interface EngineSight {
  readonly engineState: EngineState
  readonly engineError: string | null
}

const running: EngineSight = { engineState: 'running', engineError: null }
const stopped: EngineSight = {
  engineState: 'stopped',
  engineError: 'the child process of the cache does not run',
}

const longestPauseMs = 5_000
/** Chosen by us: not more often, whatever heartbeats a coordinator wants; and as often while something is wrong. */
const shortestPauseMs = 1_000

export class EngineWatch {
  readonly #options: WatchOptions
  #sight: EngineSight = { engineState: 'unknown', engineError: 'the cache was not reached yet' }
  #processes: EngineProcesses | null = null
  #openDrift: Drift | null = null
  #pauseMs = longestPauseMs
  #timer: NodeJS.Timeout | null = null
  #look: Promise<void> | null = null
  #isAskedAgain = false
  #isStopped = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  get sight(): EngineSight {
    return this.#sight
  }

  setHeartbeat(heartbeatMs: number): void {
    this.#pauseMs = Math.max(shortestPauseMs, Math.min(longestPauseMs, heartbeatMs))
  }

  /** Looks now, or once more when a look is being taken; resolves when that is done. */
  async lookNow(): Promise<void> {
    if (this.#stopped()) return
    if (this.#look) {
      this.#isAskedAgain = true
      return this.#look
    }
    if (this.#timer) clearTimeout(this.#timer)
    this.#look = this.#lookAndPlanNext()
    return this.#look
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#look
  }

  async #lookAndPlanNext(): Promise<void> {
    await this.#takeLook()
    this.#options.seen()
    while (this.#mustLookAgain()) {
      await this.#takeLook()
      this.#options.seen()
    }
    this.#look = null
    if (this.#stopped()) return
    const isWell = this.#sight.engineState === 'running'
    const pauseMs = isWell ? this.#pauseMs : shortestPauseMs
    this.#timer = setTimeout(() => void this.lookNow(), pauseMs)
  }

  #isReached(): boolean {
    return this.#options.engine.error === null
  }

  #mustLookAgain(): boolean {
    const isAsked = this.#isAskedAgain && !this.#isStopped
    this.#isAskedAgain = false
    return isAsked
  }

  #stopped(): boolean {
    return this.#isStopped
  }

  async #takeLook(): Promise<void> {
    const { engine, reconciler, log } = this.#options
    if (!this.#isReached()) {
      this.#sight = { engineState: 'unreachable', engineError: engine.error }
      return
    }
    // What is being done now asks the cache all that is asked here, and more.
    if (engine.isLoading || reconciler.isBusy) return
    try {
      this.#sight = await this.#askCache(createContext(log))
    } catch (error) {
      const engineState = this.#isReached() ? 'unknown' : 'unreachable'
      this.#sight = { engineState, engineError: errorText(error) }
      if (!(error instanceof ManagementPortError))
        log.error({ err: error }, 'the cache could not be looked at')
    }
  }

  async #askCache(context: Context): Promise<EngineSight> {
    const { engine, reconciler, mayChange } = this.#options
    await engine.run(context, ping())
    const processes = await readProcesses(engine, context)
    const isNewProcess = await this.#recognize(context, processes)
    const { turns } = reconciler
    const inventory = await readInventory(engine, context)
    const isRestart = this.#noteProcesses(processes) || isNewProcess
    if (isRestart) reconciler.cacheRestarted()
    // What was begun meanwhile sees to the cache itself.
    if (reconciler.turns === turns && mayChange()) await this.#heal(context, inventory, isRestart)
    if (inventory.childRunning) return running
    // Healing may have started the child.
    const { childRunning } = await readInventory(engine, context)
    return childRunning ? running : stopped
  }

  async #recognize(context: Context, processes: EngineProcesses | null): Promise<boolean> {
    const { state, reconciler, mayChange } = this.#options
    if (!mayChange() || processes === null) return false
    if (processes.masterPid === state.record.masterPid) return false
    return reconciler.runAlone(() => recognizeProcess({ ...this.#options, context }))
  }

  #noteProcesses(processes: EngineProcesses | null): boolean {
    const before = this.#processes
    this.#processes = processes
    return before !== null && before.workerPid !== processes?.workerPid
  }

  async #heal(context: Context, inventory: EngineInventory, isRestart: boolean): Promise<void> {
    const { reconciler, state } = this.#options
    if (reconciler.isSatisfied(inventory)) {
      this.#closeDrift(context)
      await reconciler.keepGoodState(context)
      return
    }
    const { goodRevision, heldRevision } = state.record
    if (!isRestart && goodRevision === heldRevision) this.#noteDrift(context, inventory)
    const result = await reconciler.heal(inventory, context)
    if (result === null) return
    this.#reportDrift(context, result)
    this.#options.healed(result, context)
  }

  #noteDrift(context: Context, inventory: EngineInventory): void {
    const { desired, ours } = this.#options.state.record
    if (this.#openDrift || desired === null) return
    const known = new Set(ours)
    const at = this.#isoNow()
    const differences = describeDifferences(desired, inventory, known)
    context.log.warn({ differences }, 'the cache is not as desired')
    this.#openDrift = { at, foreign: findForeign(inventory, known), action: '', healedAt: null }
  }

  /** Something else than healing put it right: an apply, or who disturbed it. */
  #closeDrift(context: Context): void {
    const drift = this.#openDrift
    this.#openDrift = null
    if (!drift || drift.action === '') return
    this.#options.drifted({ ...drift, healedAt: this.#isoNow() }, context)
  }

  #isoNow(): string {
    return new Date(this.#options.now()).toISOString()
  }

  /** Said once when it could not be healed, and once when it was. */
  #reportDrift(context: Context, result: ApplyResult): void {
    const drift = this.#openDrift
    if (!drift) return
    const isHealed = result.result === 'applied'
    const done = result.result === 'refused' ? [] : result.done
    const action = isHealed
      ? done.join('; ')
      : `not healed yet: ${result.error ?? 'see the report'}`
    const healedAt = isHealed ? this.#isoNow() : null
    const isSaid = drift.action !== ''
    this.#openDrift = isHealed ? null : { ...drift, action }
    if (isHealed || !isSaid) this.#options.drifted({ ...drift, action, healedAt }, context)
  }
}
