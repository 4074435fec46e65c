/** The steps that load a VCL, and whether the cache may load it. */
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import type { VclStep } from '../../vcl/plan.js'
import type { SourceChecks } from '../check/source-checks.js'
import type { StepTools } from './vcl-steps.js'

export type LoadStep = Extract<VclStep, { do: 'load' }>

/** Returns the load steps at the start of the list. */
export function takeLoads(steps: readonly VclStep[]): readonly LoadStep[] {
  const end = steps.findIndex((step) => step.do !== 'load')
  return steps.slice(0, end < 0 ? steps.length : end).filter((step) => step.do === 'load')
}

interface LoadTools extends StepTools {
  readonly checks: SourceChecks
  readonly desired: DesiredEngine
}

/** VCL from a good state needs no second check: a restarted cache does not wait for one. Throws LoadRefusal. */
export async function requireLoadable(
  { context, state, sources, checks, desired }: LoadTools,
  { sha }: LoadStep,
): Promise<void> {
  const isKnown = state.goodStates.some(({ record }) =>
    record.desired?.load.some((program) => program.sha === sha),
  )
  if (isKnown) return
  const budget = desired.load.find((program) => program.sha === sha)?.budget
  await checks.requireLoadable(context, { sha, text: await sources.read(sha), budget })
}
