/** `cachefleet apply`: shows the plan, or asks about what would be lost, makes it so, and ends as what is deployed is. */
import { CliError, exitCodes, type ExitCode } from '../cli-error.js'
import { confirm } from '../confirm.js'
import { readWait } from '../deploy.js'
import { showText } from '../output.js'
import { toPrintableText } from '../printable-text.js'
import { isSet, type Invocation } from '../verb.js'
import { compileAll, findToCompile } from './compile.js'
import { judgeEndStates, readEndStates } from './end-state.js'
import { foreseePlacement, type Foreseen } from './foresee.js'
import { compileNeeds, findMissing, needsOf, requireAll } from './may-apply.js'
import { nameSome } from './name-some.js'
import { planFolder, type Applying } from './plan-folder.js'
import { runPlan } from './run-plan.js'
import { describePlan, describeStep } from './show-plan.js'

/** Chosen by us: in the question whether to. */
const lossesNamed = 10

export async function apply(invocation: Invocation): Promise<ExitCode> {
  if (isSet(invocation, 'schema')) return (await import('./show-schema.js')).showSchema(invocation)
  readWait(invocation)
  if (!isSet(invocation, 'plan')) return applyPlan(await planFolder(invocation))
  return showPlan(await planFolder(invocation).catch(refusePlan))
}

/** What a script would take for changes is told apart from them. */
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
  const foreseen = await foreseePlacement(api, plan, sides)
  const mayCompile = findMissing(whoami, compileNeeds).length === 0
  const notes = mayCompile
    ? await compileAll(applying, foreseen)
    : ['the VCL was not compiled: that needs permission to write file, to read agent']
  const text = await describePlan(api, plan, sides, foreseen)
  const shown = [text, ...notes.map((note) => `note: ${note}\n`)].join('')
  showText(invocation.output, shown, { set, steps: plan.steps, placement: foreseen, notes })
  refuseShortage(foreseen)
  return exitCodes.changes
}

/** A plan that cannot be done is told apart from one that only was not done yet. */
function refuseShortage(foreseen: readonly Foreseen[]): void {
  const short = foreseen.flatMap(({ group, shortage }) =>
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
  const foreseen = await foreseePlacement(api, plan, sides)
  for (const note of await compileAll(applying, foreseen))
    invocation.surroundings.stderr.write(`cachefleet: warning: ${note}\n`)
  await confirmLosses(applying, foreseen)
  const { done, error } = await runPlan({ invocation, api, sides, set }, steps)
  const rows = steps.map((step, index) => ({ ...step, done: index < done }))
  if (invocation.output.form === 'json') showText(invocation.output, '', { set, steps: rows })
  if (error) throw error
  return endWithStates(applying)
}

function showNothing({ invocation, set }: Applying): void {
  showText(invocation.output, 'nothing to change', { set, steps: [] })
}

/** Throws CliError unless all that is deployed is Active. */
async function endWithStates({ invocation, api, sides }: Applying): Promise<ExitCode> {
  const ending = judgeEndStates(await readEndStates(api, sides))
  // Nobody waits for what is still on its way.
  const isLeft = ending?.exitCode === exitCodes.unfinished && readWait(invocation).seconds === 0
  if (ending && !isLeft) throw ending
  return exitCodes.done
}

/** What is deleted or undeployed is asked about; a terminal shows the whole plan before (docs/behaviour.md, Apply). */
async function confirmLosses(
  { invocation, api, plan, sides }: Applying,
  foreseen: readonly Foreseen[],
): Promise<void> {
  const losses = plan.steps.filter(({ action }) => action === 'delete' || action === 'undeploy')
  if (losses.length === 0 || isSet(invocation, 'yes')) return
  if (invocation.surroundings.stderr.isTTY)
    invocation.surroundings.stderr.write(
      toPrintableText(await describePlan(api, plan, sides, foreseen)),
    )
  await confirm(invocation, nameSome(losses.map(describeStep), { most: lossesNamed }))
}
