/**
 * Makes the cache hold a desired state: reads, plans and acts, and repeats this until nothing is left to do. A failed VCL is left
 * out of the next plan, so it delays only what depends on it; the VCL that serves stays.
 */
import { vclState } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import { planVcl, type VclStep } from '../../vcl/plan.js'
import { leaveUnmanaged } from '../../vcl/takeover.js'
import type { ProgramFailure } from '../../messages/agent-to-coordinator.js'
import { findFeasible, leaveStuck } from './feasible.js'
import { awaitCache } from '../engine/cache-return.js'
import { LoadRefusal, type SourceChecks } from '../check/source-checks.js'
import { describeDeath, isOfDeadChild } from '../engine/dead-child.js'
import { errorText } from '../engine/engine.js'
import { engineWords, isOfConnection, toFailures } from '../engine/engine-words.js'
import { readInventory } from './inventory.js'
import { requireLoadable, takeLoads, type LoadStep } from './load-steps.js'
import { recognizeProcess } from './managed-vcls.js'
import { applySettings, describeRefusals } from './settings.js'
import type { SettingsMemory } from './settings-memory.js'
import { describeStep, discardVcls, runStep, type StepTools } from './vcl-steps.js'
import { waitForProbes, warmAgain } from './warm-up.js'

interface ApplyOptions extends StepTools {
  readonly settings: SettingsMemory
  readonly checks: SourceChecks
  readonly desired: DesiredEngine
  /** Programs known not to load, with the engine's message; they are not tried again. */
  readonly knownFailures: ReadonlyMap<string, string>
  /** Unmanaged VCL keeps serving until the first deploy (docs/behaviour.md, Takeover). */
  readonly leaveUnmanaged: boolean
  /** Longest wait for the probes of newly loaded VCL; 0: no wait. */
  readonly warmupMs: number
  /** True when a newer desired state is waiting: the wait for probes then ends early. */
  readonly isSuperseded: () => boolean
}

export interface ApplyOutcome {
  /** The cache was seen to hold the whole desired state. */
  readonly satisfied: boolean
  readonly changed: boolean
  /** The programs of `desired.load` that the cache holds. */
  readonly loaded: readonly string[]
  readonly failures: readonly ProgramFailure[]
  /** The active VCL and the targets of labels; absent when the cache could not be read at the end. */
  readonly serving?: readonly string[] | undefined
  /** Any other error; in a satisfied outcome, the settings that the cache refuses. */
  readonly error: string | null
  /** The cache, a source or the disk was unavailable: what is neither loaded nor failed may succeed at the next attempt. */
  readonly interrupted: boolean
  /** Programs that load once their source is available or can be saved. */
  readonly postponed: readonly ProgramFailure[]
  /** The completed steps, as text. */
  readonly done: readonly string[]
}

/** Each round but the last leaves out one more item; if others change the cache at the same time, a later attempt follows. */
const roundLimit = 12
/** How often the connection may be lost in one attempt. */
const lossLimit = 1

/** Rejects only when the state cannot be saved or on a bug; any behaviour of the cache becomes part of the outcome. */
export async function applyDesired(options: ApplyOptions): Promise<ApplyOutcome> {
  const work = new ApplyWork(options)
  for (let round = 0; round < roundLimit; round++) {
    try {
      await work.recognize()
      const inventory = await readInventory(options.engine, options.context)
      const steps = work.plan(inventory)
      if (steps.length === 0) return await work.finish(inventory)
      await work.run(steps)
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      if (!(await work.survive(error))) return work.outcome(null, errorText(error), true)
    }
  }
  return work.outcome(null, `the cache is not as desired after ${roundLimit} rounds`)
}

class ApplyWork {
  readonly #options: ApplyOptions
  readonly #failures: Map<string, string>
  /** Names whose source could not be saved or that the cache does not discard. */
  readonly #stuck = new Set<string>()
  readonly #errors: string[] = []
  readonly #done: string[] = []
  /** VCLs that failed for reasons other than their text: the source is unavailable or cannot be saved. */
  readonly #postponed = new Map<string, string>()
  /** VCLs that the child was loading when it died, once: the death may be unrelated to the VCL. */
  readonly #unlucky = new Set<string>()
  #lossesLeft = lossLimit
  readonly #startedAtMs = Date.now()
  /** Labels and VCLs that cannot be set or used, in addition to those that do not load. */
  readonly #unsettable = new Set<string>()

  constructor(options: ApplyOptions) {
    this.#options = options
    this.#failures = new Map(options.knownFailures)
  }

  plan(inventory: EngineInventory): readonly VclStep[] {
    const { state, desired } = this.#options
    const failed = new Set([
      ...this.#failures.keys(),
      ...this.#unsettable,
      ...this.#postponed.keys(),
    ])
    const { desired: feasible, kept } = findFeasible(desired, failed, inventory)
    const managed = new Set([...state.record.ours, ...kept])
    const { startUnfinished, tenancy } = state.record
    const banFirst = tenancy !== null && (desired.tenancy ?? tenancy) !== tenancy
    const steps = planVcl({ desired: feasible, inventory, managed, startUnfinished, banFirst })
    const held = this.#options.leaveUnmanaged ? leaveUnmanaged(steps, inventory, managed) : steps
    return leaveStuck(held, this.#stuck)
  }

  /** True when another round is worthwhile: the connection was lost and there is a new one. */
  async survive(error: ManagementPortError): Promise<boolean> {
    this.#lossesLeft -= 1
    if (!isOfConnection(error) || this.#lossesLeft < 0) return false
    return awaitCache(this.#options, this.#options.isSuperseded)
  }

  /**
   * Runs after a connection loss and before any load: the new connection may lead to another process. Its managed VCLs are
   * recognized by the current desired state, not by the one at the end of this attempt.
   */
  async recognize(): Promise<void> {
    if (this.#lossesLeft < lossLimit) await recognizeProcess(this.#options)
  }

  /** Runs steps until one fails; in a sequence of loads, all are tried. */
  async run(steps: readonly VclStep[]): Promise<void> {
    await this.#noteStart(steps)
    await this.#noteTenancy(steps)
    for (let at = 0; at < steps.length;) {
      const rest = steps.slice(at)
      const [step] = rest
      if (step?.do === 'load' || step?.do === 'label') await this.#claim(rest)
      const loads = takeLoads(rest)
      if (at === 0 && loads.length === 0) await this.#applySettings()
      const isDone =
        loads.length > 0
          ? await this.#load(loads)
          : step !== undefined && (await this.#switch(step))
      if (!isDone) return
      at += Math.max(1, loads.length)
    }
  }

  async #noteStart(steps: readonly VclStep[]): Promise<void> {
    const { state } = this.#options
    if (steps.some((step) => step.do === 'start') && !state.record.startUnfinished)
      await state.change({ startUnfinished: true })
  }

  /** Saved before the switch: after a kill the agent must know that the cache may store objects of both tenancies. */
  async #noteTenancy(steps: readonly VclStep[]): Promise<void> {
    const { state, desired } = this.#options
    const { tenancy } = state.record
    const isSwitch = steps.some((step) => step.do === 'use' && step.name === desired.active)
    if (!isSwitch || desired.tenancy === undefined || desired.tenancy === tenancy) return
    await state.change({ tenancy: tenancy === null ? desired.tenancy : 'changing' })
  }

  async #load(loads: readonly LoadStep[]): Promise<boolean> {
    const loaded: string[] = []
    for (const step of loads) if (await this.#tryStep(step)) loaded.push(step.name)
    // Between load and switch, and before the wait: a backend whose health is set needs no wait.
    await this.#applySettings()
    await this.#warmUp(loaded)
    return loaded.length === loads.length
  }

  /** Runs one step; VCL that will serve after it is warmed up first. */
  async #switch(step: VclStep): Promise<boolean> {
    const { context, engine } = this.#options
    const warmed = await this.#warmAgain(step)
    const isDone = await this.#tryStep(step)
    for (const name of warmed) await engine.run(context, vclState(name, 'auto'))
    return isDone
  }

  async #warmAgain(step: VclStep): Promise<readonly string[]> {
    const { warmupMs, isSuperseded, desired } = this.#options
    if (warmupMs === 0 || (step.do !== 'use' && step.do !== 'label')) return []
    const name = step.do === 'use' ? step.name : step.program
    const programs = desired.load.filter((program) => program.name === name)
    return warmAgain(this.#options, { programs, longestMs: warmupMs, isSuperseded })
  }

  async finish(inventory: EngineInventory): Promise<ApplyOutcome> {
    await this.#applySettings()
    const there = new Set(inventory.vcls.map((vcl) => vcl.name))
    const { state } = this.#options
    const ours = state.record.ours.filter((name) => there.has(name))
    const startUnfinished = state.record.startUnfinished && !inventory.childRunning
    const tenancy = this.#readTenancy(inventory)
    const isKnown =
      startUnfinished === state.record.startUnfinished && tenancy === state.record.tenancy
    if (ours.length !== state.record.ours.length || !isKnown)
      await state.change({ ours, startUnfinished, tenancy })
    return this.outcome(inventory, null)
  }

  #readTenancy(inventory: EngineInventory): string | null {
    const { state, desired } = this.#options
    const isActive = inventory.vcls.some((vcl) => vcl.active && vcl.name === desired.active)
    return isActive && desired.tenancy !== undefined ? desired.tenancy : state.record.tenancy
  }

  outcome(inventory: EngineInventory | null, error: string | null, isLost = false): ApplyOutcome {
    const there = new Set(
      inventory?.vcls.filter((vcl) => vcl.labelOf === null).map((vcl) => vcl.name),
    )
    const errors = [...this.#errors, ...(error === null ? [] : [error])]
    const refusals = describeRefusals(this.#options)
    const words = [...errors, ...(refusals === null ? [] : [refusals])]
    return {
      satisfied: inventory !== null && this.#failures.size === 0 && errors.length === 0,
      interrupted: isLost || this.#postponed.size > 0,
      changed: this.#done.length > 0,
      loaded: this.#options.desired.load.map(({ name }) => name).filter((name) => there.has(name)),
      failures: toFailures(this.#failures),
      postponed: toFailures(this.#postponed),
      serving: inventory?.vcls.flatMap((vcl) => vcl.labelOf ?? (vcl.active ? vcl.name : [])),
      error: words.length === 0 ? null : words.join('; '),
      done: this.#done,
    }
  }

  /** Saved before the first byte is sent: after a kill the agent must know that it manages these names. */
  async #claim(steps: readonly VclStep[]): Promise<void> {
    const { state } = this.#options
    const ours = new Set(state.record.ours)
    const before = ours.size
    for (const step of steps) {
      if (step.do === 'load') ours.add(step.name)
      else if (step.do === 'label') ours.add(step.label)
      else break
    }
    if (ours.size > before) await state.change({ ours: [...ours] })
  }

  async #tryStep(step: VclStep): Promise<boolean> {
    try {
      if (step.do === 'discard') return await this.#discard(step)
      if (step.do === 'load') await requireLoadable(this.#options, step)
      await runStep(this.#options, step)
      if (step.do !== 'save') this.#done.push(describeStep(step))
      return true
    } catch (error) {
      // The connection is gone or the reply is garbled: later steps would fail too, and the next inventory shows what was done.
      // Only a load that timed out is recorded as a failure.
      const isLost = error instanceof ManagementPortError && isOfConnection(error)
      if (!isLost || (step.do === 'load' && error.kind === 'timeout'))
        await this.#noteFailure(step, error)
      if (isLost) throw error
      return false
    }
  }

  /** VCLs that cannot be discarded yet are discarded when the cache is healed (reconciler.ts). */
  async #discard(step: Extract<VclStep, { do: 'discard' }>): Promise<boolean> {
    const left = await discardVcls(this.#options, step.names)
    for (const name of left) this.#stuck.add(name)
    const names = step.names.filter((name) => !left.includes(name))
    if (names.length > 0) this.#done.push(describeStep({ do: 'discard', names }))
    return true
  }

  async #noteFailure(step: VclStep, error: unknown): Promise<void> {
    const words = engineWords(error)
    switch (step.do) {
      case 'load':
        return this.#noteFailedLoad(step, error, words)
      case 'label':
        this.#unsettable.add(step.label)
        break
      case 'use':
        this.#unsettable.add(step.name)
        break
      case 'ban':
        // The new VCL must not serve the stored objects.
        this.#unsettable.add(this.#options.desired.active)
        break
      case 'save':
        this.#stuck.add(step.name)
        break
      case 'discard':
        for (const name of step.names) this.#stuck.add(name)
        break
      case 'start':
        throw error
    }
    this.#errors.push(`${step.do}: ${words.trim()}`)
  }

  /** Only the cache's own verdict on the VCL, or a load that never ends, counts as its failure. */
  async #noteFailedLoad({ name, sha }: LoadStep, error: unknown, words: string): Promise<void> {
    const isRefusal = error instanceof LoadRefusal
    if (!isRefusal && !(error instanceof ManagementPortError)) {
      this.#postponed.set(name, words.trim())
      this.#errors.push(`${name}: ${words.trim()}`)
      return
    }
    const isDeath = isOfDeadChild(error)
    if (isDeath && !this.#unlucky.has(name)) {
      this.#unlucky.add(name)
      return
    }
    const reason = isDeath ? await describeDeath(this.#options, this.#startedAtMs) : words
    this.#failures.set(this.#nameDesired(name, sha), reason)
    if (isRefusal || error.kind !== 'timeout') await this.#disclaim(name)
  }

  /** Maps a text that was loaded under a temporary name, because its own is taken, to its desired name. */
  #nameDesired(name: string, sha: string): string {
    const { load } = this.#options.desired
    if (load.some((program) => program.name === name)) return name
    return load.find((program) => program.sha === sha)?.name ?? name
  }

  /** If a load is refused because an unmanaged VCL has that name, the agent must not treat that VCL as managed. */
  async #disclaim(name: string): Promise<void> {
    const { state } = this.#options
    await state.change({ ours: state.record.ours.filter((one) => one !== name) })
  }

  async #applySettings(): Promise<void> {
    this.#done.push(...(await applySettings(this.#options, this.#options.desired)))
  }

  async #warmUp(names: readonly string[]): Promise<void> {
    const { warmupMs, isSuperseded, desired } = this.#options
    if (warmupMs > 0 && names.length > 0)
      await waitForProbes(this.#options, {
        programs: desired.load.filter((program) => names.includes(program.name)),
        longestMs: warmupMs,
        isSuperseded,
      })
  }
}
