/** `vclgroups deploy|cancel|undeploy|reload|rollback|promote|validate`: one call that the coordinator holds until the wait ends, and its exit code. */
import type { Api, ApiAnswer } from './api.js'
import { idOf, isFields, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { confirm } from './confirm.js'
import { describeDeploying, describeUndeploying, showProgress } from './deploy-progress.js'
import {
  appliedPlaces,
  hasShare,
  judgeWaitEnd,
  readGroup,
  type DeploymentSight,
  type GroupSight,
  type Place,
} from './deploy-verdict.js'
import { findId } from './find-object.js'
import { withClock } from './live-line.js'
import { showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { isSet, textFlag, word, type Invocation, type Named } from './verb.js'

/** docs/behaviour.md, Deploy. */
const defaultWaitSeconds = 60
const longestWaitSeconds = 600
/** Chosen by us: what an answer may need beyond the wait. */
const answerTimeMs = 60_000
/** Chosen by us: agents that a message names. */
const agentsNamed = 20

interface Wait {
  readonly seconds: number
  /** 0 to 100. */
  readonly percent: number
}

export function deployGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const isReplacing = isSet(invocation, 'replace')
  const isForced = isSet(invocation, 'force')
  if (isForced && !isReplacing) throw usageError('--force goes with --replace')
  const query = {
    ...(isReplacing && { replace: 'true' }),
    ...(isForced && { force: 'true' }),
  }
  return callDeploy(invocation, group, { verb: 'deploy', doing: 'deploying', query })
}

export function reloadGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  return callDeploy(invocation, group, { verb: 'reload', doing: 'reloading' })
}

export async function rollBackGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const revision = textFlag(invocation, 'revision')
  if (revision !== undefined && !/^[1-9]\d{0,14}$/.test(revision))
    throw usageError('--revision takes a number, as `vclgroups history` tells it')
  const body = revision === undefined ? {} : { revision: Number(revision) }
  readWait(invocation)
  await confirm(invocation, `roll back ${group.singular} ${JSON.stringify(word(invocation, 0))}`)
  return callDeploy(invocation, group, { verb: 'rollback', doing: 'rolling back', body })
}

/** The exit code is a deploy's: what was staged is deployed. */
export async function promoteGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  readWait(invocation)
  await confirm(
    invocation,
    `promote the stage of ${group.singular} ${JSON.stringify(word(invocation, 0))}`,
  )
  return callDeploy(invocation, group, { verb: 'promote', doing: 'promoting' })
}

interface DeployCall {
  readonly verb: string
  readonly doing: string
  readonly body?: Fields
  readonly query?: Readonly<Record<string, string>>
}

async function callDeploy(
  invocation: Invocation,
  group: Named,
  { verb, doing, body: sent, query }: DeployCall,
): Promise<ExitCode> {
  const wait = readWait(invocation)
  const api = await invocation.openApi()
  const path = `${group.path}/${await findId(api, group, word(invocation, 0))}`
  const { revision: revisionBefore } = readGroup(await api.readObject(path))
  const { stderr } = invocation.surroundings
  const describe = (group: GroupSight): string | null => describeDeploying(group, revisionBefore)
  const progress = wait.seconds > 0 ? showProgress(api, path, { stderr, doing, describe }) : null
  const call = {
    path: `${path}/${verb}`,
    wait,
    ...(sent && { body: sent }),
    ...(query && { query }),
  }
  announceWait(invocation)
  const answer = await callVerb(api, call).finally(() => {
    progress?.stop()
  })
  const body = requireFields(answer.body)
  const sight = readGroup(body)
  showGroup(invocation, body, sight)
  if (answer.status === 202 && wait.seconds === 0) return exitCodes.done
  if (answer.status !== 202 && hasShare(sight, wait.percent)) return exitCodes.done
  if (answer.status !== 202)
    throw new CliError(
      exitCodes.partial,
      describeShortfall(sight, wait, 'every agent has answered'),
    )
  if (sight.revision === revisionBefore)
    throw new CliError(exitCodes.unfinished, describeLoading(sight, wait))
  const exitCode = judgeWaitEnd(sight, await readDeployments(api, path, body))
  const rest = exitCode === exitCodes.partial ? 'it goes on' : 'below min, it goes on'
  throw new CliError(exitCode, describeShortfall(sight, wait, rest))
}

/** Whoever waits for the deploy is told. */
export async function cancelDeploy(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const path = `${group.path}/${await findId(api, group, word(invocation, 0))}/cancel`
  const { body } = await api.call({ method: 'PUT', path })
  const left = requireFields(body)
  const { name, stateName } = readGroup(left)
  showText(
    invocation.output,
    toPrintableLine(`${name}: the deploy is cancelled, ${stateName}`),
    left,
  )
}

export async function undeployGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const wait = readWait(invocation)
  await confirm(invocation, `undeploy ${group.singular} ${JSON.stringify(word(invocation, 0))}`)
  const api = await invocation.openApi()
  const path = `${group.path}/${await findId(api, group, word(invocation, 0))}`
  const { stderr } = invocation.surroundings
  const watched = { stderr, doing: 'undeploying', describe: describeUndeploying }
  const progress = wait.seconds > 0 ? showProgress(api, path, watched) : null
  announceWait(invocation)
  const answer = await callVerb(api, { path: `${path}/undeploy`, wait }).finally(() => {
    progress?.stop()
  })
  const body = requireFields(answer.body)
  const sight = readGroup(body)
  showGroup(invocation, body, sight)
  if (answer.status === 200 || wait.seconds === 0) return exitCodes.done
  // There is no min to be below: the group leaves, sooner or later.
  throw new CliError(
    exitCodes.partial,
    `${toPrintableLine(sight.name)}: not every agent has dropped it after ${wait.seconds} s; it goes on`,
  )
}

export async function validateGroup(invocation: Invocation, group: Named): Promise<undefined> {
  const agents = textFlag(invocation, 'agents')
  if (agents !== undefined && agents !== 'one' && agents !== 'all')
    throw usageError('--agents takes one or all')
  const api = await invocation.openApi()
  const path = `${group.path}/${await findId(api, group, word(invocation, 0))}`
  // One load may take 120 s (docs/behaviour.md, Deploy).
  const timeoutMs = 120_000 + answerTimeMs
  const query = agents === undefined ? {} : { agents }
  const call = { method: 'PUT', path: `${path}/validate`, query, timeoutMs } as const
  const { stderr } = invocation.surroundings
  const { body } = await withClock(stderr, 'compiling', () => api.call(call))
  const name = isFields(body) ? toPrintableLine(String(body['name'])) : word(invocation, 0)
  showText(invocation.output, `${name}: the VCL compiles and agents fit`, body ?? {})
}

/** Throws CliError for what is no wait or no share. */
export function readWait(invocation: Invocation): Wait {
  const [, seconds] =
    /^(\d{1,4})s?$/.exec(textFlag(invocation, 'wait') ?? `${defaultWaitSeconds}s`) ?? []
  if (seconds === undefined || Number(seconds) > longestWaitSeconds)
    throw usageError(`--wait takes whole seconds, 0 to ${longestWaitSeconds}, like 60s`)
  const percent = textFlag(invocation, 'percent') ?? '100'
  if (!/^\d{1,3}$/.test(percent) || Number(percent) > 100)
    throw usageError('--percent takes a whole number from 0 to 100')
  return { seconds: isSet(invocation, 'detach') ? 0 : Number(seconds), percent: Number(percent) }
}

/** The wish counts once it is sent, whoever waits. */
function announceWait(invocation: Invocation): void {
  const name = toPrintableLine(word(invocation, 0))
  const state = `cachefleet vclgroups state ${name}`
  invocation.surroundings.setParting(`no longer waiting; the work goes on: ${state}`)
}

interface VerbCall {
  readonly path: string
  readonly wait: Wait
  readonly body?: Fields
  readonly query?: Readonly<Record<string, string>>
}

function callVerb(api: Api, { path, wait, body, query }: VerbCall): Promise<ApiAnswer> {
  const { seconds, percent } = wait
  return api.call({
    method: 'PUT',
    path,
    ...(body && { body }),
    query: { ...query, wait: `${seconds}s`, percent: String(percent) },
    timeoutMs: seconds * 1000 + answerTimeMs,
  })
}

function showGroup({ output }: Invocation, body: Fields, group: GroupSight): void {
  const applied = `${appliedPlaces(group).length} of ${group.places.length} applied`
  const text = `${group.name}: ${group.stateName}, revision ${group.revision}, ${applied}`
  showText(output, toPrintableLine(text), body)
}

/** Each deployment's min, and the agents that the group is on by it. */
async function readDeployments(
  api: Api,
  path: string,
  group: Fields,
): Promise<readonly DeploymentSight[]> {
  const placement = await api.readList(`${path}/placement`)
  const ids = requireList(group['deployments']).map(({ id }) => id)
  return Promise.all(
    ids.map(async (id) => {
      const deployment = await api.readObject(`/deployments/${String(id)}`)
      const rows = placement.filter((row) => idOf(row['deployment']) === id)
      const agentIds = new Set(rows.map((row) => idOf(row['agent'])))
      return { min: Number(deployment['min']), agentIds }
    }),
  )
}

/** Nobody has switched yet. */
function describeLoading(group: GroupSight, { seconds }: Wait): string {
  const loading = group.places.filter(({ state }) => state === 'applying' || state === 'wanted')
  return toPrintableLine(
    `${group.name}: still loading after ${seconds} s, it goes on; not ready: ${nameAgents(loading)}`,
  )
}

function describeShortfall(group: GroupSight, { percent }: Wait, rest: string): string {
  const applied = new Set(appliedPlaces(group))
  const missing = group.places.filter((place) => !applied.has(place))
  const share = `${applied.size} of ${group.places.length} applied, ${percent} percent wanted`
  return toPrintableLine(`${group.name}: ${share}; ${rest}; without it: ${nameAgents(missing)}`)
}

function nameAgents(places: readonly Place[]): string {
  const named = places.slice(0, agentsNamed).map((place) => `${place.agentName} (${place.state})`)
  const more = places.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
