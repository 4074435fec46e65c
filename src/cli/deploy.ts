/** `vclgroups deploy|cancel|…|validate`: sends one call, which the coordinator holds until the wait ends, and sets the exit code. */
import { agentStates, type AgentState } from '../resources/agent-state.js'
import type { Api } from './api.js'
import { idOf, isFields, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { confirmObject } from './confirm.js'
import {
  describeDeploying,
  describeUndeploying,
  showProgress,
  type ProgressOptions,
} from './deploy-progress.js'
import {
  appliedPlaces,
  hasShare,
  judgeWaitEnd,
  readGroup,
  shownState,
  type DeploymentPlacement,
  type GroupStatus,
  type IllAgents,
  type Place,
} from './deploy-verdict.js'
import { openObject } from './find-object.js'
import { readTests, showWarnings, testTimeOf } from './group-tests.js'
import { readRevision } from './group-plan.js'
import { joinSome } from './join-some.js'
import { readListIfAllowed } from './readable-list.js'
import { withClock } from './status-line.js'
import { showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { readRollout } from './rollout-flags.js'
import { isSet, textFlag, word, type Invocation, type Named } from './verb.js'

/** docs/behaviour.md, Deploy. */
const defaultWaitSeconds = 60
const longestWaitSeconds = 600
/** Time allowed for the response beyond the wait. */
const answerTimeMs = 60_000
/** Number of agents that a message names. */
const agentsNamed = 20

interface Wait {
  readonly seconds: number
  /** 0 to 100. */
  readonly percent: number
}

export async function deployGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const isReplacing = isSet(invocation, 'replace')
  const query = {
    ...(isReplacing && { replace: 'true' }),
    ...(isSet(invocation, 'abort') && { abort: 'true' }),
    ...readTests(invocation),
  }
  readWait(invocation)
  const rollout = await readRollout(invocation, () => invocation.openApi())
  const body = rollout === undefined ? {} : { body: { rollout } }
  return callDeploy(invocation, group, { verb: 'deploy', doing: 'deploying', query, ...body })
}

export function reloadGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  return callDeploy(invocation, group, { verb: 'reload', doing: 'recompiling' })
}

export async function rollBackGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const revision = readRevision(invocation)
  const body = revision === undefined ? {} : { revision: Number(revision) }
  readWait(invocation)
  await confirmObject(invocation, 'roll back', group)
  return callDeploy(invocation, group, { verb: 'rollback', doing: 'rolling back', body })
}

/** Exits as a deploy does, because promoting deploys the staged release. */
export async function promoteGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  readWait(invocation)
  const query = readTests(invocation)
  await confirmObject(invocation, 'promote the stage of', group)
  return callDeploy(invocation, group, { verb: 'promote', doing: 'promoting', query })
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
  deploy: DeployCall,
): Promise<ExitCode> {
  const wait = readWait(invocation)
  const { api, path } = await openObject(invocation, group)
  const before = await api.readObject(path)
  const { revision: revisionBefore } = readGroup(before)
  const describe = (now: GroupStatus): string | null => describeDeploying(now, revisionBefore)
  const call = { ...deploy, path, wait, describe, moreTimeMs: testTimeOf(before) }
  const { isRunning, body, status } = await callVerb(invocation, api, call)
  if (isRunning && wait.seconds === 0) return exitCodes.done
  if (!isRunning && hasShare(status, wait.percent)) return exitCodes.done
  const rollout = isRunning ? idOf(body['rollout']) : undefined
  if (typeof rollout === 'number') throw describeRollout(rollout, status.name)
  const ill = await readIllAgents(api)
  if (!isRunning)
    throw new CliError(
      exitCodes.partial,
      describeShortfall(status, { wait, ill, rest: 'every agent has answered' }),
    )
  if (status.revision === revisionBefore)
    throw new CliError(exitCodes.unfinished, describeLoading(status, wait, ill))
  const exitCode = judgeWaitEnd(status, await readDeployments(api, path, body))
  const rest = exitCode === exitCodes.partial ? 'this continues' : 'below min, this continues'
  throw new CliError(exitCode, describeShortfall(status, { wait, ill, rest }))
}

/** A rollout continues with its waves after the call returns. */
function describeRollout(id: number, name: string): CliError {
  const watch = `cachefleet rollouts watch ${id}`
  return new CliError(
    exitCodes.partial,
    toPrintableLine(`${name}: rollout ${id} goes on: ${watch}`),
  )
}

/** The coordinator notifies callers that wait for the deploy. */
export async function cancelDeploy(invocation: Invocation, group: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, group)
  const { body } = await api.call({ method: 'PUT', path: `${path}/cancel` })
  const left = requireFields(body)
  const { name, stateName } = readGroup(left)
  showText(invocation.output, toPrintableLine(`${name}: deploy cancelled, ${stateName}`), left)
}

export async function undeployGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const wait = readWait(invocation)
  await confirmObject(invocation, 'undeploy', group)
  const { api, path } = await openObject(invocation, group)
  const call = { verb: 'undeploy', doing: 'undeploying', describe: describeUndeploying, path, wait }
  const { isRunning, status } = await callVerb(invocation, api, call)
  if (!isRunning || wait.seconds === 0) return exitCodes.done
  // An undeploy has no min: the group leaves every agent eventually.
  throw new CliError(
    exitCodes.partial,
    `${toPrintableLine(status.name)}: not every agent has removed it after ${wait.seconds} s; this continues`,
  )
}

export async function validateGroup(invocation: Invocation, group: Named): Promise<undefined> {
  const agents = textFlag(invocation, 'agents')
  if (agents !== undefined && agents !== 'one' && agents !== 'all')
    throw usageError('--agents is one or all')
  const release = textFlag(invocation, 'release')
  const tests = readTests(invocation)
  const query = { ...(agents && { agents }), ...(release !== undefined && { release }), ...tests }
  const { api, path } = await openObject(invocation, group)
  // A single load may take 120 s (docs/behaviour.md, Deploy).
  const timeoutMs = 120_000 + answerTimeMs + testTimeOf(await api.readObject(path))
  const call = { method: 'PUT', path: `${path}/validate`, query, timeoutMs } as const
  const { stderr } = invocation.system
  const { body } = await withClock(stderr, 'compiling', () => api.call(call))
  const name = isFields(body) ? toPrintableLine(String(body['name'])) : word(invocation, 0)
  const what =
    release === undefined ? 'the VCL compiles and agents fit' : `it compiles on ${release}`
  if (isFields(body)) showWarnings(invocation, body)
  showText(invocation.output, `${name}: ${what}`, body ?? {})
}

/** Throws CliError for an invalid wait or percentage. */
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

/** For administrators: allows the call while the organization is frozen. */
export function readForce(invocation: Invocation): Readonly<Record<string, string>> {
  return isSet(invocation, 'force') ? { force: 'true' } : {}
}

/** Once sent, the deploy continues even if the caller stops waiting. */
function announceWait(invocation: Invocation): void {
  const name = toPrintableLine(word(invocation, 0))
  const state = `cachefleet vclgroups state ${name}`
  invocation.system.setInterruptMessage(`No longer waiting; the work continues: ${state}`)
}

interface VerbCall extends DeployCall, Pick<ProgressOptions, 'describe'> {
  /** Of the group. */
  readonly path: string
  readonly wait: Wait
  readonly moreTimeMs?: number
}

/** Shows progress on a terminal. Returns the group as it is when the wait ends. */
async function callVerb(invocation: Invocation, api: Api, call: VerbCall) {
  const { path, verb, wait, doing, describe, body, query, moreTimeMs = 0 } = call
  const { seconds, percent } = wait
  const { stderr } = invocation.system
  const progress = seconds > 0 ? showProgress(api, path, { stderr, doing, describe }) : null
  announceWait(invocation)
  const request = {
    method: 'PUT',
    path: `${path}/${verb}`,
    ...(body && { body }),
    query: { ...query, ...readForce(invocation), wait: `${seconds}s`, percent: String(percent) },
    timeoutMs: seconds * 1000 + answerTimeMs + moreTimeMs,
  } as const
  const answer = await api.call(request).finally(() => {
    progress?.stop()
  })
  const group = requireFields(answer.body)
  showWarnings(invocation, group)
  const status = readGroup(group)
  showGroup(invocation, group, status)
  return { isRunning: answer.status === 202, body: group, status }
}

function showGroup({ output }: Invocation, body: Fields, group: GroupStatus): void {
  const applied = `${appliedPlaces(group).length} of ${group.places.length} applied`
  const text = `${group.name}: ${group.stateName}, revision ${group.revision}, ${applied}`
  showText(output, toPrintableLine(text), body)
}

/** Each deployment's min, and the agents on which it places the group. */
async function readDeployments(
  api: Api,
  path: string,
  group: Fields,
): Promise<readonly DeploymentPlacement[]> {
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

/** Returns an empty map if the caller may not read agents. */
async function readIllAgents(api: Api): Promise<IllAgents> {
  const { Failing, Down, Locked } = agentStates
  const query = { state: [Failing, Down, Locked].join() }
  const rows = (await readListIfAllowed(api, '/agents', query)) ?? []
  return new Map(rows.map(({ id, state }) => [id, state as AgentState])) // as defined by the API
}

/** Used before any agent has switched. */
function describeLoading(group: GroupStatus, { seconds }: Wait, ill: IllAgents): string {
  const loading = group.places.filter(({ state }) => state === 'applying' || state === 'wanted')
  return toPrintableLine(
    `${group.name}: still loading after ${seconds} s, this continues; not ready: ${nameAgents(loading, ill)}`,
  )
}

interface Shortfall {
  readonly wait: Wait
  readonly ill: IllAgents
  readonly rest: string
}

function describeShortfall(group: GroupStatus, { wait, ill, rest }: Shortfall): string {
  const applied = new Set(appliedPlaces(group))
  const missing = group.places.filter((place) => !applied.has(place))
  const share = `${applied.size} of ${group.places.length} applied, ${wait.percent} percent wanted`
  return toPrintableLine(
    `${group.name}: ${share}; ${rest}; without it: ${nameAgents(missing, ill)}`,
  )
}

function nameAgents(places: readonly Place[], ill: IllAgents): string {
  const named = places.map((place) => `${place.agentName} (${shownState(place, ill)})`)
  return joinSome(named, { most: agentsNamed })
}
