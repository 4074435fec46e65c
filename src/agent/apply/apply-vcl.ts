/**
 * Makes the cache hold a desired state: reads, plans and acts, and repeats that until there is nothing to do. What failed is left
 * out of the next plan, so one VCL that does not compile holds up nothing that can do without it; what serves stays.
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
  /** Programs that are known not to load, with the engine's words: not tried again. */
  readonly knownFailures: ReadonlyMap<string, string>
  /** Foreign VCL serves on: the first deploy is still to come (docs/behaviour.md, Takeover). */
  readonly leaveUnmanaged: boolean
  /** Longest wait for the probes of what was loaded; 0: none. */
  readonly warmupMs: number
  /** A newer desired state waits: do not wait for probes. */
  readonly isSuperseded: () => boolean
}

export interface ApplyOutcome {
  /** The cache was seen to hold all of it. */
  readonly satisfied: boolean
  readonly changed: boolean
  /** What of `desired.load` the cache holds. */
  readonly loaded: readonly string[]
  readonly failures: readonly ProgramFailure[]
  /** The active VCL and what labels stand for; absent when the cache was not seen at the end. */
  readonly serving?: readonly string[] | undefined
  /** What else went wrong; of a satisfied one: which settings the cache refuses. */
  readonly error: string | null
  /** The cache, a source or the disk was not there: what is neither loaded nor a failure may do at the next attempt. */
  readonly interrupted: boolean
  /** What of it is loaded once a source is to be had, or can be kept. */
  readonly postponed: readonly ProgramFailure[]
  /** What was done, in words. */
  readonly done: readonly string[]
}

/** Each round but the last leaves out one more thing; a cache that others change at the same time is retried later. */
const roundLimit = 12
/** How often the connection may be lost in one attempt. */
const lossLimit = 1

/** Rejects only when the state cannot be saved or there is a bug; whatever the cache does is an outcome. */
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
  /** Names whose source could not be saved or that the cache does not let go. */
  readonly #stuck = new Set<string>()
  readonly #errors: string[] = []
  readonly #done: string[] = []
  /** VCLs whose load says nothing about them: their source is not to be had, or cannot be kept. */
  readonly #postponed = new Map<string, string>()
  /** VCLs during whose load the child of the cache died, once: by itself, as far as that tells. */
  readonly #unlucky = new Set<string>()
  #lossesLeft = lossLimit
  readonly #startedAtMs = Date.now()
  /** Labels and VCLs that cannot be set or used, beside those that do not load. */
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

  /** Whether it is worth another round: the connection was lost, and there is a new one. */
  async survive(error: ManagementPortError): Promise<boolean> {
    this.#lossesLeft -= 1
    if (!isOfConnection(error) || this.#lossesLeft < 0) return false
    return awaitCache(this.#options, this.#options.isSuperseded)
  }

  /**
   * After a loss, before anything is loaded: behind the new connection may be another process, and what it holds of ours is
   * known by what is desired now, not by what is desired when this attempt has ended.
   */
  async recognize(): Promise<void> {
    if (this.#lossesLeft < lossLimit) await recognizeProcess(this.#options)
  }

  /** Runs steps until one fails; loads that follow each other are all tried. */
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

  /** Written down before the switch: after a kill it must be known that objects of both may be stored. */
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
    // Between load and switch; before the wait, which a backend with a health of its own needs not.
    await this.#applySettings()
    await this.#warmUp(loaded)
    return loaded.length === loads.length
  }

  /** As any step; what is to serve from then on is warm before. */
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

  /** Written down before the first byte is sent: after a kill we must know that it is ours. */
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
      // The connection is gone, or the cache talks nonsense: whatever follows would fail alike, and the next look tells what
      // was done. Only of a load that takes too long more is known.
      const isLost = error instanceof ManagementPortError && isOfConnection(error)
      if (!isLost || (step.do === 'load' && error.kind === 'timeout'))
        await this.#noteFailure(step, error)
      if (isLost) throw error
      return false
    }
  }

  /** What has to stay for now goes when the cache is healed (reconciler.ts). */
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
        // It must not serve what is stored.
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

  /** Only what the cache says about the VCL is its failure, and that it does not come to an end. */
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

  /** A text that was loaded under another name, to stand in while its own is taken. */
  #nameDesired(name: string, sha: string): string {
    const { load } = this.#options.desired
    if (load.some((program) => program.name === name)) return name
    return load.find((program) => program.sha === sha)?.name ?? name
  }

  /** A load that was refused because of an unmanaged VCL of that name must not make that one ours. */
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
