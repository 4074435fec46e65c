/** Runs a plan's steps in order and reports how many were completed. */
import { keyOf } from './apply-objects.js'
import type { ApplyStep } from './apply-plan.js'
import type { Api } from '../api.js'
import { requireFields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'
import { deployGroup, undeployGroup } from '../deploy.js'
import type { Output } from '../output.js'
import { toPrintableLine } from '../printable-text.js'
import type { Invocation } from '../verb.js'
import { toBody, type Sides } from './bodies.js'
import { joinSome } from '../join-some.js'
import { describeStep } from './show-plan.js'
import { nouns } from './wanted.js'

/** Number of remaining steps that the message names. */
const stepsNamed = 10

export interface Running {
  readonly invocation: Invocation
  readonly api: Api
  readonly sides: Sides
  readonly set: string
}

interface RunEnding {
  /** Number of completed steps. */
  readonly done: number
  /** Null if all steps were completed. */
  readonly error: CliError | null
}

/**
 * Stops at the first refused step; a second run continues from there. A deploy that outlasts its wait continues in the background, and so
 * do the following steps; the group's state at the end shows its result.
 */
export async function runPlan(running: Running, steps: readonly ApplyStep[]): Promise<RunEnding> {
  for (const [done, step] of steps.entries()) {
    try {
      await runStep(running, step)
      notify(running.invocation, `${describeStep(step)}: done`)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      if (!isLate(error)) return { done, error: describeEnding(error, { steps, done }) }
      notify(running.invocation, error.message)
    }
  }
  return { done: steps.length, error: null }
}

function isLate({ exitCode }: CliError): boolean {
  return exitCode === exitCodes.partial || exitCode === exitCodes.unfinished
}

function notify({ output }: Invocation, line: string): void {
  if (output.form !== 'json') output.write(`${toPrintableLine(line)}\n`)
}

async function runStep(running: Running, step: ApplyStep): Promise<void> {
  const { api, sides, set, invocation } = running
  const { path } = nouns[step.kind]
  switch (step.action) {
    case 'create': {
      const { kind, name } = step
      const body = toBody(step, sides.ids, sides.sources.get(name))
      const nameField = nouns[kind].nameField ?? 'name'
      const made = await api.call({
        method: 'POST',
        path,
        body: { [nameField]: name, ...body, managedBy: set },
      })
      sides.ids.add(kind, name, Number(requireFields(made.body)['id']))
      return
    }
    case 'update': {
      const ifMatch = await requireUntouched(running, step)
      const isNewText = step.changes.some(({ field }) => field === 'sha')
      const source = isNewText ? sides.sources.get(step.name) : undefined
      const body = toBody(step, sides.ids, source)
      const owner = step.takes ? { managedBy: set } : {}
      await api.call({
        method: 'PUT',
        path: `${path}/${step.id}`,
        body: { ...body, ...owner },
        ifMatch,
      })
      return
    }
    case 'delete': {
      const ifMatch = await requireUntouched(running, step)
      await api.call({ method: 'DELETE', path: `${path}/${step.id}`, ifMatch })
      return
    }
    case 'deploy':
      await deployGroup(
        callFor(invocation, sides.ids.require('vclgroup', step.name)),
        nouns.vclgroup,
      )
      return
    case 'undeploy':
      await undeployGroup(callFor(invocation, step.id), nouns.vclgroup)
  }
}

/**
 * Throws CliError if the object has changed since the plan was made. Returns the ETag of the checked state if the coordinator provides one,
 * so that no change can slip in between.
 */
async function requireUntouched(
  { api, sides }: Running,
  step: ApplyStep & { readonly id: number },
): Promise<string | undefined> {
  const { kind, name, id } = step
  const seen = await api.call({ method: 'GET', path: `${nouns[kind].path}/${id}` })
  const { updated } = requireFields(seen.body)
  if (updated === sides.present.get(keyOf(step))?.updated) return seen.etag
  throw new CliError(
    exitCodes.refused,
    `${kind} ${JSON.stringify(name)} was changed by somebody else since the plan was made, at ${String(updated)}; run it again`,
  )
}

/** Runs as if the user had typed the verb; with --json its output is dropped, because only one document is printed. */
function callFor(invocation: Invocation, groupId: number): Invocation {
  const { output, flags } = invocation
  const silent: Output = { ...output, write: () => undefined }
  return {
    ...invocation,
    words: [String(groupId)],
    flags: { ...flags, yes: true },
    output: output.form === 'json' ? silent : output,
  }
}

function describeEnding(
  error: CliError,
  { steps, done }: { readonly steps: readonly ApplyStep[]; readonly done: number },
): CliError {
  const [failed, ...rest] = steps.slice(done)
  const what = failed ? describeStep(failed) : ''
  const left = joinSome(rest.map(describeStep), { most: stepsNamed })
  const more = rest.length === 0 ? '' : `; not done: ${left}`
  const behind = error.message.includes('\n') ? '\n' : '; '
  return new CliError(
    error.exitCode,
    `${what}: ${error.message}${behind}${done} of ${steps.length} steps were done${more}. A second run goes on from here`,
    error.refusal,
  )
}
