/**
 * `vclgroups diff`, and `--plan` of deploy, rollback, promote and undeploy: shows the changes without making any. Exits with 0 if there are
 * none and with 2 if there are some; a plan exits with 1 if the verb would be refused or would wait.
 */
import { requireFields, requireList, isFields, nameOf, type Fields } from './api-shapes.js'
import type { Api } from './api.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { openObject } from './find-object.js'
import { readTests, showWarnings, testTimeOf } from './group-tests.js'
import { joinSome } from './join-some.js'
import { nameFlags } from './name-flags.js'
import { showText } from './output.js'
import { withClock } from './status-line.js'
import { diffTexts } from './text-diff.js'
import { isSet, textFlag, type Invocation, type Named } from './verb.js'

/** Number of routing VCL changes to show. */
const routingsShown = 5
/** Number of caches to name that share the same routing. */
const agentsNamed = 5
const notFound = 404
/** A single load may take 120 s (docs/behaviour.md, Deploy). */
const compileTimeoutMs = 180_000

export type PlannedVerb = 'deploy' | 'rollback' | 'promote' | 'undeploy'

export async function diffGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const { api, path } = await openObject(invocation, group)
  const plan = await api.readObject(`${path}/plan`, { verb: 'deploy' })
  if (plan['to'] === null) throw new CliError(exitCodes.refused, String(plan['refusal']))
  const files = await diffFiles(api, plan)
  const text = files.map(({ diff }) => diff).join('')
  showText(invocation.output, text === '' ? 'no file differs from what is deployed' : text, files)
  return files.length === 0 ? exitCodes.done : exitCodes.changes
}

export async function planVerb(
  invocation: Invocation,
  group: Named,
  verb: PlannedVerb,
): Promise<ExitCode> {
  const query = readQuery(invocation, verb)
  const { api, path } = await openObject(invocation, group)
  const plan = await api.readObject(`${path}/plan`, query)
  const { changes } = plan
  const files = await diffFiles(api, plan)
  const compiles = verb === 'deploy' && changes === true && plan['refusal'] === null
  const refusal = compiles ? await findCompileError(invocation, api, path, plan) : plan['refusal']
  const { revision } = plan
  const tests = 'tests' in readTests(invocation) ? [] : requireList(plan['tests'])
  const aim = typeof revision === 'number' ? `back to revision ${revision}\n` : ''
  const text = [
    ...files.map(({ diff }) => diff),
    ...requireList(plan['agents']).flatMap(describeMove),
    ...diffRouting(requireList(plan['routing'])),
    ...tests.map((test) => `test ${nameOf(test) ?? ''} runs before\n`),
    ...(typeof refusal === 'string' ? [`it cannot be done now: ${nameFlags(refusal)}\n`] : []),
  ].join('')
  const none = changes === true ? again[verb] : 'it would change nothing'
  showText(invocation.output, `${aim}${text === '' ? none : text}`, { ...plan, files, refusal })
  if (typeof refusal === 'string') return exitCodes.refused
  return changes === true ? exitCodes.changes : exitCodes.done
}

/** Only for deploys; VCL of earlier deploys has already compiled. Returns null if the VCL compiles and its tests pass. */
async function findCompileError(
  invocation: Invocation,
  api: Api,
  path: string,
  plan: Fields,
): Promise<string | null> {
  const query = readTests(invocation)
  const timeoutMs = compileTimeoutMs + testTimeOf(plan)
  const call = { method: 'PUT', path: `${path}/validate`, query, timeoutMs } as const
  try {
    const { body } = await withClock(invocation.system.stderr, 'compiling', () => api.call(call))
    if (isFields(body)) showWarnings(invocation, body)
    return null
  } catch (error) {
    if (error instanceof CliError && error.refusal) return error.message
    throw error
  }
}

/** Shown if files, caches and routing stay the same but the verb still has an effect. */
const again: Readonly<Record<PlannedVerb, string>> = {
  deploy: 'the same VCL would be deployed again, where it is not served',
  rollback: 'the same VCL would be deployed again, where it is not served',
  promote: 'the stage would end; the group serves its VCL already',
  undeploy: 'the group is on no cache; late ones would not get it any more',
}

function readQuery(invocation: Invocation, verb: PlannedVerb): Readonly<Record<string, string>> {
  const revision = readRevision(invocation)
  const inWaves = ['waves', 'agents'].find((flag) => textFlag(invocation, flag) !== undefined)
  if (inWaves !== undefined)
    throw usageError(
      `--plan shows what each cache would load, in one wave or many: without --${inWaves}`,
    )
  return {
    verb,
    ...(revision !== undefined && { revision }),
    ...(isSet(invocation, 'replace') && {
      replace: 'true',
      ...(isSet(invocation, 'force') && { force: 'true' }),
    }),
  }
}

/** Throws CliError for an invalid revision number. */
export function readRevision(invocation: Invocation): string | undefined {
  const revision = textFlag(invocation, 'revision')
  if (revision !== undefined && !/^[1-9]\d{0,14}$/.test(revision))
    throw usageError('--revision takes a number, as `vclgroups history` shows it')
  return revision
}

interface Difference {
  readonly name: string
  readonly diff: string
}

interface PinnedFile {
  readonly id: number
  readonly name: string
  readonly version: number
}

/** Compares the deployed files with those of the plan; returns none if the plan would deploy nothing. */
async function diffFiles(api: Api, { from, to }: Fields): Promise<readonly Difference[]> {
  if (!isFields(to)) return []
  const sides = [isFields(from) ? readPins(from) : [], readPins(to)]
  const ids = [...new Set(sides.flat().map(({ id }) => id))]
  const differences = await Promise.all(
    ids.map(async (id): Promise<Difference[]> => {
      const [before, after] = sides.map((files) => files.find((file) => file.id === id))
      if (before?.version === after?.version) return []
      const texts = await Promise.all([before, after].map((file) => readText(api, file)))
      const name = (after ?? before)?.name ?? ''
      const labels = [before, after].map((file) => (file ? labelOf(file) : '/dev/null'))
      const [fromLabel = '', toLabel = ''] = labels
      if (texts.includes(null))
        return [{ name, diff: `--- ${fromLabel}\n+++ ${toLabel}\n(the file was deleted since)\n` }]
      const diff = diffTexts(
        { label: fromLabel, text: texts[0] ?? '' },
        { label: toLabel, text: texts[1] ?? '' },
      )
      return [{ name, diff }]
    }),
  )
  return differences.flat()
}

function labelOf({ name, version }: PinnedFile): string {
  return `${name} version ${version}`
}

function readPins(pins: Fields): readonly PinnedFile[] {
  return [requireFields(pins['mainVCL']), ...requireList(pins['includes'])].map((file) => ({
    id: Number(file['id']),
    name: nameOf(file) ?? '',
    version: Number(file['version']),
  }))
}

/** Returns null if the file was deleted; revisions keep only its compiled text. */
async function readText(api: Api, file: PinnedFile | undefined): Promise<string | null> {
  if (!file) return ''
  try {
    const { source } = await api.readObject(`/files/${file.id}/versions/${file.version}`)
    return typeof source === 'string' ? source : ''
  } catch (error) {
    if (error instanceof CliError && error.refusal?.status === notFound) return null
    throw error
  }
}

/** Returns no line for an agent that keeps the group. */
function describeMove({ agent, deployment, held, reason, replaces }: Fields): string[] {
  const name = nameOf(agent) ?? ''
  if (typeof deployment !== 'string') return [`- ${name}: ${String(reason)}\n`]
  if (held === true) return []
  const others = requireList(replaces ?? []).map((other) => nameOf(other) ?? '')
  const instead = others.length === 0 ? '' : `, in place of ${others.join(', ')}`
  return [`+ ${name}: by deployment ${deployment}${instead}\n`]
}

/** Changes on caches that route to groups by domain. */
function diffRouting(changes: readonly Fields[]): readonly string[] {
  const shown = changes.slice(0, routingsShown).map(({ agents, from, to }) => {
    const names = requireList(agents).map((agent) => nameOf(agent) ?? '')
    const label = `routing of ${joinSome(names, { most: agentsNamed })}`
    return diffTexts(
      { label: from === null ? '/dev/null' : label, text: textOf(from) },
      { label: to === null ? '/dev/null' : label, text: textOf(to) },
    )
  })
  const hidden = changes.length - routingsShown
  return hidden > 0 ? [...shown, `and ${hidden} more changes of the routing\n`] : shown
}

function textOf(source: unknown): string {
  return typeof source === 'string' ? source : ''
}
