/** `cachefleet apply`: shows the plan, or asks about what would be lost and makes it so. */
import { exitCodes, type ExitCode } from '../cli-error.js'
import { confirm } from '../confirm.js'
import { readWait } from '../deploy.js'
import { showText } from '../output.js'
import { toPrintableText } from '../printable-text.js'
import { isSet, type Invocation } from '../verb.js'
import { compileAll, findToCompile } from './compile.js'
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
  const applying = await planFolder(invocation)
  return isSet(invocation, 'plan') ? showPlan(applying) : applyPlan(applying)
}

async function showPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, sides, whoami, set } = applying
  if (plan.steps.length === 0) return showNothing(applying)
  const foreseen = await foreseePlacement(api, plan, sides)
  const mayCompile = findMissing(whoami, compileNeeds).length === 0
  const notes = mayCompile
    ? await compileAll(applying, foreseen)
    : ['the VCL was not compiled: that needs permission to write file, to read agent']
  const text = await describePlan(api, plan, sides, foreseen)
  const shown = [text, ...notes.map((note) => `note: ${note}\n`)].join('')
  showText(invocation.output, shown, { set, steps: plan.steps, placement: foreseen, notes })
  return exitCodes.done
}

async function applyPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, sides, whoami, set } = applying
  const { steps } = plan
  if (steps.length === 0) return showNothing(applying)
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
  return exitCodes.done
}

function showNothing({ invocation, set }: Applying): ExitCode {
  showText(invocation.output, 'nothing to change', { set, steps: [] })
  return exitCodes.done
}

/** What is deleted or undeployed is asked about; a terminal shows the whole plan before (choices: 8). */
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
