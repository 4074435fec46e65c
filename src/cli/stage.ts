/** `vclgroups stage|delstage`: stages sources on separate agents, and discards them. `promote` is a deploy (deploy.ts). */
import { isFields, nameOf, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { readForce } from './deploy.js'
import { confirmObject } from './confirm.js'
import { findId, openObject } from './find-object.js'
import { withClock } from './status-line.js'
import { buildBody } from './object-body.js'
import { showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { textFlag, word, type Field, type Invocation, type Named } from './verb.js'

/** The coordinator waits up to 60 s; the rest is time for the response. */
const timeoutMs = 120_000

export async function stageGroup(
  invocation: Invocation,
  group: Named,
  fields: readonly Field[],
): Promise<ExitCode> {
  const hasTags = ['tags', 'data'].some((flag) => textFlag(invocation, flag) !== undefined)
  if (!hasTags)
    throw usageError('--tags is missing: a stage goes to all running agents that have all of them')
  const api = await invocation.openApi()
  const body = await buildBody(invocation, api, fields)
  const path = `${group.path}/${await findId(api, group, word(invocation, 0))}/stage`
  const { stderr } = invocation.system
  const call = { method: 'PUT', path, body, query: readForce(invocation), timeoutMs } as const
  const answer = await withClock(stderr, 'loading the stage', () => api.call(call))
  const staged = requireFields(answer.body)
  showText(invocation.output, describeStage(staged), staged)
  if (answer.status !== 202) return exitCodes.done
  throw new CliError(exitCodes.unfinished, `${nameGroup(staged)}: still loading; this continues`)
}

export async function dropStage(invocation: Invocation, group: Named): Promise<ExitCode> {
  await confirmObject(invocation, 'discard the stage of', group)
  const { api, path } = await openObject(invocation, group)
  const { stderr } = invocation.system
  const query = readForce(invocation)
  const call = { method: 'PUT', path: `${path}/delstage`, query, timeoutMs } as const
  const answer = await withClock(stderr, 'discarding the stage', () => api.call(call))
  const left = requireFields(answer.body)
  showText(invocation.output, `${nameGroup(left)}: nothing is staged`, left)
  if (answer.status !== 202) return exitCodes.done
  throw new CliError(
    exitCodes.partial,
    `${nameGroup(left)}: not every agent has discarded the stage yet; this continues`,
  )
}

function describeStage(group: Fields): string {
  const { staged } = group
  if (!isFields(staged)) return `${nameGroup(group)}: not staged yet`
  const tags = requireList(staged['tags']).map((tag) => nameOf(tag) ?? '')
  const main = requireFields(staged['mainVCL'])
  const file = `${String(main['name'])} version ${String(main['version'])}`
  return toPrintableLine(`${nameGroup(group)}: ${file} is staged on ${tags.join(', ')}`)
}

function nameGroup(group: Fields): string {
  return toPrintableLine(String(group['name']))
}
