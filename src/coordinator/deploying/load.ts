/**
 * Phase one: watches the agents load until a decision is possible, and replaces agents that go away. The agents switch only
 * if each deployment has its min loaded; none switches once that is impossible.
 */
import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../context.js'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import { titleOfRelease } from '../../resources/cache-release.js'
import { describeFailures, translateError } from '../../vcl/compiler-text.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import { holderOf, holdsDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { findGroup } from '../fleet/group-queries.js'
import { countGroupPlacements, type PlacementCount } from '../fleet/group-placements.js'
import { readPlacements, savePlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { isStaged } from '../fleet/stage.js'
import { readAgentStates, type AgentStateRow } from '../fleet/state-queries.js'
import { programOf } from '../fleet/vcl-group.js'
import { readSourceMap } from '../groups/source-places.js'
import { createPlacement, decidePlacement } from '../placement/placing.js'
import type { StateService } from '../service.js'
import { readPlacingInput } from './begin.js'
import type { LoadVerdict } from './decide.js'
import { markLeaving } from './stage.js'

/** `failed`: the cache refused the VCL. `away`: the agent is not Running, or keeps failing for another reason than the VCL. */
export type LoadState = 'pending' | 'loaded' | 'failed' | 'away'

export interface LoadsInput {
  readonly deployments: readonly { readonly id: number; readonly min: number }[]
  readonly loads: readonly { readonly deploymentId: number; readonly state: LoadState }[]
  /** Since the deploy began. */
  readonly elapsedMs: number
  /** The caller's `wait`; 0: the caller does not wait. */
  readonly waitMs: number
}

/** `uncompilable` and `unavailable`: no agent may switch. */
type Judgement = 'wait' | 'switch' | 'uncompilable' | 'unavailable'

const defaultWaitMs = 60_000
const longestGraceMs = 30_000

/** How long a deploy waits for agents that still load once every deployment has its min, in ms since the deploy began. */
export function graceMs(waitMs: number): number {
  return Math.min((waitMs === 0 ? defaultWaitMs : waitMs) / 2, longestGraceMs)
}

export function judgeLoads({ deployments, loads, elapsedMs, waitMs }: LoadsInput): Judgement {
  const counts = deployments.map(({ id, min }) => {
    const states = loads.filter((load) => load.deploymentId === id).map(({ state }) => state)
    const count = (wanted: LoadState): number => states.filter((state) => state === wanted).length
    return {
      min,
      asked: states.length,
      loaded: count('loaded'),
      pending: count('pending'),
      failed: count('failed'),
    }
  })
  const short = counts.filter(({ loaded, pending, min }) => loaded + pending < min)
  if (short.length > 0) {
    // The VCL is at fault if agents refused it and none loaded it, or if the agents that went away could not have reached min.
    const refused = short.some(
      ({ asked, failed, loaded, min }) => failed > 0 && (asked - failed < min || loaded === 0),
    )
    return refused ? 'uncompilable' : 'unavailable'
  }
  if (counts.some(({ loaded, min }) => loaded < min)) return 'wait'
  const isComplete = counts.every(({ pending }) => pending === 0)
  return isComplete || elapsedMs >= graceMs(waitMs) ? 'switch' : 'wait'
}

/** A stage goes to all of its agents or to none, so one refusal fails it. Absent agents receive it when they reconnect. */
export function judgeStageLoads(loads: readonly LoadState[]): Judgement {
  const there = loads.filter((state) => state !== 'away')
  if (there.includes('failed')) return 'uncompilable'
  if (there.length === 0) return 'unavailable'
  return there.includes('pending') ? 'wait' : 'switch'
}

/** More than the 120 s that one load may take, since loads queue on the cache's single manager thread. */
const longestLoadMs = 600_000

/**
 * A shorter absence does not end a deploy. An agent reconnects to its cache after 0.1 s (src/agent/engine/engine.ts) and to
 * the coordinator after 0.5 to 2 s; a busy host responds slowly.
 */
const awayGraceMs = 5_000

/**
 * 'stopping': the coordinator stops; the deploy's row stays and the deploy is discarded at the next start. 'ended': another
 * process or an administrator has ended the deploy or taken it over.
 */
export async function followLoads(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  waitMs: number,
): Promise<LoadVerdict | 'stopping' | 'ended'> {
  const { queries } = service.store
  const { groupId, sources } = deploy
  const deployments = await readDeploymentsOfGroup(queries, groupId, sources.deploymentIds)
  const followed = { deploy, deployments, waitMs }
  // Each agent that goes away is replaced once; agents that arrive later are placed when the deploy has switched.
  let replaced = 0
  let unavailableSinceMs: number | null = null
  let waiting: number | null = null
  const judgeEach = async (): Promise<LoadVerdict | undefined> => {
    const loads = await readLoads(service, followed)
    const away = loads.filter(isAway).length
    if (away > replaced) {
      replaced = away
      // A stage goes to all agents with its tags, so there is no replacement.
      const agentIds = isStaged(deploy.sources) ? [] : await replaceAway(service, deploy, loads)
      notifyDesiredChanged(service, agentIds, context.traceId)
      if (agentIds.length > 0) return undefined
    }
    const judgement = judgeFollowed(service, followed, loads)
    if (judgement === 'wait') return undefined
    if (judgement === 'switch') return { kind: 'switch' }
    if (judgement === 'uncompilable') return describeRefused(service, deploy, loads)
    if (loads.some(isGone)) {
      unavailableSinceMs ??= service.now()
      if (service.now() - unavailableSinceMs < awayGraceMs) return undefined
    }
    return { kind: 'unavailable', message: describeAway(loads), staysPending: true }
  }
  const poll = async (): Promise<LoadVerdict | 'ended' | undefined> => {
    const counted = await countLoads(service, followed, replaced)
    waiting = counted === 'switch' ? null : counted
    if (waiting !== null) {
      unavailableSinceMs = null
      return undefined
    }
    // If this deploy has ended, the next deploy of the group may already be running.
    if (!(await holdsDeploy(queries, deploy))) return 'ended'
    return counted === 'switch' ? { kind: 'switch' } : judgeEach()
  }
  const untilMs = deploy.startedAt + longestLoadMs
  const verdict = await watchAgents(service, poll, untilMs, { countMissing: () => waiting ?? 1 })
  if (verdict) return verdict
  if (service.background.signal.aborted) return 'stopping'
  const message = `the caches did not load within ${longestLoadMs / 60_000} minutes`
  return { kind: 'unavailable', message, staysPending: true }
}

interface FollowedDeploy {
  readonly deploy: DeployRecord
  readonly deployments: LoadsInput['deployments']
  readonly waitMs: number
}

/**
 * One small query, which nearly always suffices. Returns how many agents still load, or that the others may switch; null if
 * it takes the placements themselves to decide.
 */
async function countLoads(
  service: StateService,
  followed: FollowedDeploy,
  replaced: number,
): Promise<number | 'switch' | null> {
  const { deploy } = followed
  const places = await countGroupPlacements(service.store.queries, holderOf(deploy), deploy)
  if (places.length === 0) return null
  const loads = places
    .filter(({ hasCandidate }) => hasCandidate)
    .flatMap((place) => {
      const { deploymentId, count } = place
      const load = { deploymentId, state: stateOfLoad(place, isInGracePeriod(service, followed)) }
      return Array.from({ length: count }, () => load)
    })
  if (loads.filter(isAway).length > replaced) return null
  const judgement = judgeFollowed(service, followed, loads)
  if (judgement === 'switch') return 'switch'
  return judgement === 'wait' ? loads.filter(({ state }) => state === 'pending').length : null
}

function judgeFollowed(
  service: StateService,
  { deploy, deployments, waitMs }: FollowedDeploy,
  loads: LoadsInput['loads'],
): Judgement {
  if (isStaged(deploy.sources)) return judgeStageLoads(loads.map(({ state }) => state))
  const elapsedMs = service.now() - deploy.startedAt
  return judgeLoads({ deployments, loads, elapsedMs, waitMs })
}

interface Load {
  readonly placement: PlacementRecord
  readonly deploymentId: number
  readonly agent: AgentStateRow
  readonly state: LoadState
}

function isAway({ state }: Pick<Load, 'state'>): boolean {
  return state === 'away'
}

/** True if the agent itself is away and may return shortly. */
function isGone({ agent, state }: Load): boolean {
  return state === 'away' && agent.state !== agentStates.Running
}

/** Reads the candidates of a deploy with the state of their agents, in two queries. */
async function readLoads(service: StateService, followed: FollowedDeploy): Promise<Load[]> {
  const { queries } = service.store
  const { groupId, stage } = holderOf(followed.deploy)
  const placements = await readPlacements(queries, { groupIds: [groupId], stage })
  const agents = await readAgentStates(queries, groupId)
  const inGracePeriod = isInGracePeriod(service, followed)
  return placements.flatMap((placement): Load[] => {
    const { deploymentId, candidate, candidateState, error } = placement
    const agent = agents.get(placement.agentId)
    if (!agent || candidate === null) return []
    const load = { candidateState, agentState: agent.state, hasError: error !== null }
    return [{ placement, deploymentId, agent, state: stateOfLoad(load, inGracePeriod) }]
  })
}

/** Half of the caller's wait, which leaves time to try another agent and still respond within the wait. */
function isInGracePeriod(service: StateService, { deploy, waitMs }: FollowedDeploy): boolean {
  return service.now() - deploy.startedAt < graceMs(waitMs)
}

function stateOfLoad(
  {
    candidateState,
    agentState,
    hasError,
  }: Pick<PlacementCount, 'candidateState' | 'agentState' | 'hasError'>,
  inGracePeriod: boolean,
): LoadState {
  const state = candidateState ?? 'pending'
  // The agent's disk is full, or it cannot fetch the source: it keeps trying and may never finish.
  if (state === 'pending' && hasError && !inGracePeriod) return 'away'
  // A cache that died while loading proves nothing about the VCL.
  return state !== 'loaded' && agentState !== agentStates.Running ? 'away' : state
}

/**
 * Replaces agents that went away while loading by other suitable agents. Returns the agents whose desired state changed;
 * empty if no other agent is suitable.
 */
async function replaceAway(
  service: StateService,
  deploy: DeployRecord,
  loads: readonly Load[],
): Promise<readonly number[]> {
  const { sources, revision } = deploy
  const away = new Set(loads.filter(isAway).map(({ agent }) => agent.id))
  return service.store.decide(async (queries) => {
    const isRunning = await holdsDeploy(queries, deploy)
    const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
    if (!isRunning || !group) return []
    const promoting = deploy.action === 'promote'
    const input = await readPlacingInput(queries, group, sources.deploymentIds)
    const decision = await decidePlacement(queries, {
      ...input,
      group: { id: group.id, domains: sources.domains, releases: sources.releases, promoting },
      // An absent agent keeps its row, which the switch decides about, but does not count here.
      placements: input.placements.filter(
        ({ agentId, candidate }) => candidate !== null && !away.has(agentId),
      ),
      exclude: away,
    })
    const program = programOf(sources)
    const added = decision.add.map((place) =>
      createPlacement({ ...place, group, revision, program }),
    )
    if (promoting) await markLeaving(queries, group.id, [...input.placements, ...added])
    await savePlacements(queries, added)
    const agentIds = added.map(({ agentId }) => agentId)
    return recomposeDesired(queries, agentIds)
  })
}

/** Maximum number of agents named in a message. */
const namesLimit = 20

/** Names the agents that could not load the VCL, with the reasons. */
function describeAway(loads: readonly Load[]): string {
  const away = loads.filter(isAway)
  if (away.length === 0) return 'too few agents are left to load the VCL'
  const named = away
    .slice(0, namesLimit)
    .map(({ agent: { name, state }, placement: { error } }) =>
      state === agentStates.Running && error !== null
        ? `${name}: ${error}`
        : `${name}: the agent is ${agentStateName(state)}`,
    )
  const more = away.length - named.length
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** The verdict with the compilers' errors, at the author's own file and line. */
async function describeRefused(
  service: StateService,
  deploy: DeployRecord,
  loads: readonly Load[],
): Promise<LoadVerdict> {
  const failed = loads
    .filter(({ state }) => state === 'failed')
    .map(({ agent, placement }) => ({
      agentId: placement.agentId,
      agentName: agent.name,
      release: titleOfRelease(agent.release),
      error: placement.error ?? 'no reason given',
    }))
  const sourceMap = await readSourceMap(service, deploy)
  const message = describeFailures(failed, sourceMap)
  const failures = new Map<number, string>()
  for (const { agentId, error } of failed) {
    failures.set(agentId, translateError(error, sourceMap))
    await setImmediate() // each error may be a different long text
  }
  return { kind: 'uncompilable', message, failures }
}
