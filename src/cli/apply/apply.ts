/** `cachefleet apply`: shows the plan, or confirms deletions, applies the plan, and ends with the state of the deployed groups. */
import { CliError, exitCodes, type ExitCode } from '../cli-error.js'
import { confirm } from '../confirm.js'
import { readWait } from '../deploy.js'
import { showText } from '../output.js'
import { toPrintableText } from '../printable-text.js'
import { isSet, type Invocation } from '../verb.js'
import { compileAll, findToCompile } from './compile.js'
import { judgeEndStates, readEndStates } from './end-state.js'
import { previewPlacement, type PlacementPreview } from './preview-placement.js'
import { compileNeeds, findMissing, needsOf, requireAll } from './may-apply.js'
import { joinSome } from '../join-some.js'
import { planFolder, type Applying } from './plan-folder.js'
import { runPlan } from './run-plan.js'
import { describePlan, describeStep } from './show-plan.js'

/** In the confirmation prompt. */
const lossesNamed = 10

export async function apply(invocation: Invocation): Promise<ExitCode> {
  if (isSet(invocation, 'schema')) return (await import('./show-schema.js')).showSchema(invocation)
  readWait(invocation)
  if (!isSet(invocation, 'plan')) return applyPlan(await planFolder(invocation))
  return showPlan(await planFolder(invocation).catch(refusePlan))
}

/** Scripts must not mistake a usage error (exit code 2) for pending changes (also 2). */
function refusePlan(error: unknown): never {
  if (error instanceof CliError && error.exitCode === exitCodes.usage)
    throw new CliError(exitCodes.refused, error.message)
  throw error
}

async function showPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, sides, whoami, set } = applying
  if (plan.steps.length === 0) {
    showNothing(applying)
    return exitCodes.done
  }
  const preview = await previewPlacement(api, plan, sides)
  const mayCompile = findMissing(whoami, compileNeeds).length === 0
  const notes = mayCompile
    ? await compileAll(applying, preview)
    : ['the VCL was not compiled: that needs permission to write file, to read agent']
  const text = await describePlan(api, plan, sides, preview)
  const shown = [text, ...notes.map((note) => `note: ${note}\n`)].join('')
  showText(invocation.output, shown, { set, steps: plan.steps, placement: preview, notes })
  refuseShortage(preview)
  return exitCodes.changes
}

/** A plan that cannot be applied needs another exit code than one that is not applied yet. */
function refuseShortage(preview: readonly PlacementPreview[]): void {
  const short = preview.flatMap(({ group, shortage }) =>
    shortage === null ? [] : [`vclgroup ${JSON.stringify(group)} cannot be deployed: ${shortage}`],
  )
  if (short.length > 0) throw new CliError(exitCodes.refused, short.join('\n'))
}

async function applyPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, sides, whoami, set } = applying
  const { steps } = plan
  if (steps.length === 0) {
    showNothing(applying)
    return endWithStates(applying)
  }
  const toCompile = findToCompile(plan, sides.wanted)
  requireAll(whoami, [...needsOf(steps), ...(toCompile.length > 0 ? compileNeeds : [])])
  const preview = await previewPlacement(api, plan, sides)
  for (const note of await compileAll(applying, preview))
    invocation.system.stderr.write(`cachefleet: warning: ${note}\n`)
  await confirmLosses(applying, preview)
  const { done, error } = await runPlan({ invocation, api, sides, set }, steps)
  const rows = steps.map((step, index) => ({ ...step, done: index < done }))
  if (invocation.output.form === 'json') showText(invocation.output, '', { set, steps: rows })
  if (error) throw error
  return endWithStates(applying)
}

function showNothing({ invocation, set }: Applying): void {
  showText(invocation.output, 'nothing to change', { set, steps: [] })
}

/** Throws CliError unless every deployed group is Active. */
async function endWithStates({ invocation, api, sides }: Applying): Promise<ExitCode> {
  const ending = judgeEndStates(await readEndStates(api, sides))
  // With a wait of 0 s, an unfinished deploy is not an error.
  const isLeft = ending?.exitCode === exitCodes.unfinished && readWait(invocation).seconds === 0
  if (ending && !isLeft) throw ending
  return exitCodes.done
}

/** Deletes and undeploys need confirmation; a terminal shows the whole plan first (docs/behaviour.md, Apply). */
async function confirmLosses(
  { invocation, api, plan, sides }: Applying,
  preview: readonly PlacementPreview[],
): Promise<void> {
  const losses = plan.steps.filter(({ action }) => action === 'delete' || action === 'undeploy')
  if (losses.length === 0 || isSet(invocation, 'yes')) return
  if (invocation.system.stderr.isTTY)
    invocation.system.stderr.write(toPrintableText(await describePlan(api, plan, sides, preview)))
  await confirm(invocation, joinSome(losses.map(describeStep), { most: lossesNamed }))
}
