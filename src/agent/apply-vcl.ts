/**
 * Makes the cache hold a desired state: look, plan, do, and look again until there is nothing to do. What failed is left
 * out of the next plan, so one VCL that does not compile holds up nothing that can do without it; what serves stays.
 */
import { ManagementPortError } from '../../protocol/errors.js'
import type { DesiredEngine } from '../domain/desired-engine.js'
import type { EngineInventory } from '../domain/engine-inventory.js'
import { planVcl, type VclStep } from '../domain/vcl-plan.js'
import type { ProgramFailure } from '../messages/agent-to-coordinator.js'
import { findAttainable } from './attainable.js'
import { errorText } from './engine.js'
import { readInventory } from './inventory.js'
import { holdForeign } from './takeover.js'
import { describeStep, runStep, type StepTools } from './vcl-steps.js'
import { waitForProbes } from './warm-up.js'

export interface ApplyOptions extends StepTools {
  readonly desired: DesiredEngine
  /** Programs that are known not to load, with the engine's words: not tried again. */
  readonly knownFailures: ReadonlyMap<string, string>
  /** Foreign VCL serves on: the first deploy is still to come (choices: 1, --takeover). */
  readonly holdForeign: boolean
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
  /** What else went wrong. */
  readonly error: string | null
  /** What was done, in words. */
  readonly done: readonly string[]
}

/** Chosen by us: each round but the last leaves out something more; a cache that others change at the same time is left for later. */
const roundLimit = 12

/** Rejects only when the state cannot be saved or there is a bug; whatever the cache does is an outcome. */
export async function applyDesired(options: ApplyOptions): Promise<ApplyOutcome> {
  const work = new ApplyWork(options)
  for (let round = 0; round < roundLimit; round++) {
    try {
      const inventory = await readInventory(options.engine, options.context)
      const steps = work.plan(inventory)
      if (steps.length === 0) return await work.finish(inventory)
      await work.run(steps)
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      return work.outcome(null, errorText(error))
    }
  }
  return work.outcome(null, `the cache is not as desired after ${roundLimit} rounds`)
}

type LoadStep = Extract<VclStep, { do: 'load' }>

class ApplyWork {
  readonly #options: ApplyOptions
  readonly #failures: Map<string, string>
  /** Names whose source could not be saved or that the cache does not let go. */
  readonly #stuck = new Set<string>()
  readonly #errors: string[] = []
  readonly #done: string[] = []
  /** Labels and VCLs that cannot be set or used, beside those that do not load. */
  readonly #unsettable = new Set<string>()

  constructor(options: ApplyOptions) {
    this.#options = options
    this.#failures = new Map(options.knownFailures)
  }

  plan(inventory: EngineInventory): readonly VclStep[] {
    const { state, desired } = this.#options
    const failed = new Set([...this.#failures.keys(), ...this.#unsettable])
    const attainable = findAttainable(desired, failed, inventory)
    const ours = new Set([...state.record.ours, ...attainable.kept])
    const { startUnfinished } = state.record
    const steps = planVcl({ desired: attainable.desired, inventory, ours, startUnfinished })
    const held = this.#options.holdForeign ? holdForeign(steps, inventory, ours) : steps
    return this.#leaveStuck(held)
  }

  /** Runs steps until one fails; loads that follow each other are all tried. */
  async run(steps: readonly VclStep[]): Promise<void> {
    const { state } = this.#options
    if (steps.some((step) => step.do === 'start') && !state.record.startUnfinished)
      await state.change({ startUnfinished: true })
    for (let at = 0; at < steps.length;) {
      const rest = steps.slice(at)
      const [step] = rest
      if (step?.do === 'load' || step?.do === 'label') await this.#claim(rest)
      const loads = takeLoads(rest)
      const isDone =
        loads.length > 0
          ? await this.#load(loads)
          : step !== undefined && (await this.#tryStep(step))
      if (!isDone) return
      at += Math.max(1, loads.length)
    }
  }

  async #load(loads: readonly LoadStep[]): Promise<boolean> {
    const loaded: string[] = []
    for (const step of loads) if (await this.#tryStep(step)) loaded.push(step.name)
    await this.#warmUp(loaded)
    return loaded.length === loads.length
  }

  async finish(inventory: EngineInventory): Promise<ApplyOutcome> {
    const there = new Set(inventory.vcls.map((vcl) => vcl.name))
    const { state } = this.#options
    const ours = state.record.ours.filter((name) => there.has(name))
    const startUnfinished = state.record.startUnfinished && !inventory.childRunning
    const isKnown = startUnfinished === state.record.startUnfinished
    if (ours.length !== state.record.ours.length || !isKnown)
      await state.change({ ours, startUnfinished })
    return this.outcome(inventory, null)
  }

  outcome(inventory: EngineInventory | null, error: string | null): ApplyOutcome {
    const there = new Set(
      inventory?.vcls.filter((vcl) => vcl.labelOf === null).map((vcl) => vcl.name),
    )
    const errors = [...this.#errors, ...(error === null ? [] : [error])]
    return {
      satisfied: inventory !== null && this.#failures.size === 0 && errors.length === 0,
      changed: this.#done.length > 0,
      loaded: this.#options.desired.load.map(({ name }) => name).filter((name) => there.has(name)),
      failures: [...this.#failures].map(([program, words]) => ({ program, error: words })),
      error: errors.length === 0 ? null : errors.join('; '),
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
      await runStep(this.#options, step)
      if (step.do !== 'save') this.#done.push(describeStep(step))
      return true
    } catch (error) {
      await this.#noteFailure(step, error)
      // The connection is gone, or the cache talks nonsense: whatever follows would fail alike.
      if (error instanceof ManagementPortError && isOfConnection(error)) throw error
      return false
    }
  }

  async #noteFailure(step: VclStep, error: unknown): Promise<void> {
    const words = engineWords(error)
    switch (step.do) {
      case 'load':
        this.#failures.set(step.name, words)
        if (error instanceof ManagementPortError && isOfConnection(error)) return // it may be there
        return this.#disclaim(step.name)
      case 'label':
        this.#unsettable.add(step.label)
        break
      case 'use':
        this.#unsettable.add(step.name)
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

  /** A load that was refused because of a foreign VCL of that name must not make that one ours. */
  async #disclaim(name: string): Promise<void> {
    const { state } = this.#options
    await state.change({ ours: state.record.ours.filter((one) => one !== name) })
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

  #leaveStuck(steps: readonly VclStep[]): readonly VclStep[] {
    if (this.#stuck.size === 0) return steps
    return steps.flatMap((step): VclStep[] => {
      if (step.do === 'save') return this.#stuck.has(step.name) ? [] : [step]
      if (step.do !== 'discard') return [step]
      const names = step.names.filter((name) => !this.#stuck.has(name))
      return names.length > 0 ? [{ do: 'discard', names }] : []
    })
  }
}

function takeLoads(steps: readonly VclStep[]): readonly LoadStep[] {
  const end = steps.findIndex((step) => step.do !== 'load')
  return steps.slice(0, end < 0 ? steps.length : end).filter((step) => step.do === 'load')
}

/** The engine's words, whole, where there are any. */
function engineWords(error: unknown): string {
  const words = error instanceof ManagementPortError ? error.text : undefined
  return words === undefined || words.trim() === '' ? errorText(error) : words
}

function isOfConnection(error: ManagementPortError): boolean {
  return error.kind === 'lost' || error.kind === 'timeout' || error.kind === 'garbled'
}
