/** Phase one: the agents' loads are watched until they can be judged; agents that go away are replaced. */
import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../context.js'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import { describeFailures, translateError } from '../../vcl/compiler-text.js'
import {
  graceMs,
  judgeLoads,
  judgeStageLoads,
  type LoadsInput,
  type LoadState,
  type LoadVerdict as JudgedLoads,
} from './deploy-outcome.js'
import { isStaged } from '../fleet/stage.js'
import { readAgentStates, type AgentStateRow } from '../fleet/state-queries.js'
import { holderOf, holdsDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { countGroupPlaces, type AlikePlaces } from '../fleet/group-places.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import type { LoadVerdict } from './deploy-decision.js'
import { replaceAway } from './deploy-substitutes.js'
import { readSourceMap } from '../groups/source-places.js'
import type { StateService } from '../service.js'
import { watchAgents } from '../agents/watch-agents.js'

/** Chosen by us: above the 120 s that one load may take, with a queue of them on the cache's one manager thread. */
const longestLoadMs = 600_000

/**
 * Chosen by us: who is away for less does not end a deploy. An agent dials its cache again after 0.1 s (src/agent/engine/engine.ts),
 * the coordinator after 0.5 to 2 s.
 */
const blipMs = 3_000

/** Agents that a message names. */
const namesLimit = 20

/**
 * 'stopping': the coordinator stops; the deploy's row stays and is discarded at the next start. 'ended': somebody else has
 * ended the deploy, or took it over.
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
  const judged = { deploy, deployments, waitMs }
  // Each agent that goes away is replaced once; who arrives later is placed when the deploy has switched.
  let replaced = 0
  let unavailableSinceMs: number | null = null
  const verdict = await watchAgents<LoadVerdict | 'ended'>(
    service,
    async () => {
      if (await mustWait(service, judged, replaced)) {
        unavailableSinceMs = null
        return undefined
      }
      // The next deploy of the group may have begun already.
      if (!(await holdsDeploy(queries, deploy))) return 'ended'
      const loads = await readLoads(service, judged)
      const away = loads.filter(({ state }) => state === 'away').length
      if (away > replaced) {
        replaced = away
        // A stage is for all of its agents: nobody stands in for another.
        const agentIds = isStaged(deploy.sources) ? [] : await replaceAway(service, deploy, loads)
        tellDesiredChanged(service, agentIds, context.traceId)
        if (agentIds.length > 0) return undefined
      }
      const judgement = await judge(service, judged, loads)
      if (judgement?.kind !== 'unavailable') return judgement
      if (!loads.some(isGone)) return judgement
      unavailableSinceMs ??= service.now()
      return service.now() - unavailableSinceMs < blipMs ? undefined : judgement
    },
    { untilMs: deploy.startedAt + longestLoadMs, signal: service.background.signal },
  )
  if (verdict) return verdict
  if (service.background.signal.aborted) return 'stopping'
  const minutes = longestLoadMs / 60_000
  const message = `the caches did not load within ${minutes} minutes`
  return { kind: 'unavailable', message, keepsWish }
}

const keepsWish = true

export interface Load {
  readonly placement: PlacementRecord
  readonly agent: AgentStateRow
  readonly state: LoadState
}

interface Judged {
  readonly deploy: DeployRecord
  readonly deployments: LoadsInput['deployments']
  readonly waitMs: number
}

/** One small query for the many looks at which nothing is to be done yet. */
async function mustWait(
  service: StateService,
  { deploy, deployments, waitMs }: Judged,
  replaced: number,
): Promise<boolean> {
  const places = await countGroupPlaces(service.store.queries, holderOf(deploy), deploy)
  if (places.length === 0) return false
  const loads = places
    .filter(({ hasCandidate }) => hasCandidate)
    .flatMap((place) => {
      const state = stateOfLoad(place, isPatient(service, { deploy, waitMs }))
      const load = { deploymentId: place.deploymentId, state }
      return Array.from({ length: place.count }, () => load)
    })
  const { verdict } = judgeAll(service, { deploy, deployments, waitMs }, loads)
  return verdict === 'wait' && loads.filter(({ state }) => state === 'away').length <= replaced
}

/** It may be back in a moment. */
function isGone({ agent, state }: Load): boolean {
  return state === 'away' && agent.state !== agentStates.Running
}

/** The candidates of a deploy with the state of their agents. Two queries. */
async function readLoads(
  service: StateService,
  { deploy, waitMs }: Pick<Judged, 'deploy' | 'waitMs'>,
): Promise<Load[]> {
  const { queries } = service.store
  const { groupId, stage } = holderOf(deploy)
  const placements = (await readPlacements(queries, { groupIds: [groupId], stage })).filter(
    (placement) => placement.candidate !== null,
  )
  const agents = await readAgentStates(queries, deploy.groupId)
  const patient = isPatient(service, { deploy, waitMs })
  return placements.flatMap((placement): Load[] => {
    const agent = agents.get(placement.agentId)
    if (!agent) return []
    const { candidateState, error } = placement
    const sight = { candidateState, agentState: agent.state, hasError: error !== null }
    return [{ placement, agent, state: stateOfLoad(sight, patient) }]
  })
}

/** Half of the caller's wait, so that another agent can be asked, and the caller told, within it. */
function isPatient(
  service: StateService,
  { deploy, waitMs }: Pick<Judged, 'deploy' | 'waitMs'>,
): boolean {
  return service.now() - deploy.startedAt < graceMs(waitMs)
}

function stateOfLoad(
  { candidateState, agentState, hasError }: LoadSight,
  patient: boolean,
): LoadState {
  const state = candidateState ?? 'pending'
  // Its disk is full, or the source is not to be had: it tries on, and may never be done.
  if (state === 'pending' && hasError && !patient) return 'away'
  // A cache that died while loading says nothing about the VCL.
  return state !== 'loaded' && agentState !== agentStates.Running ? 'away' : state
}

type LoadSight = Pick<AlikePlaces, 'candidateState' | 'agentState' | 'hasError'>

async function judge(
  service: StateService,
  { deploy, deployments, waitMs }: Judged,
  loads: readonly Load[],
): Promise<LoadVerdict | undefined> {
  const states = loads.map(({ placement: { deploymentId }, state }) => ({ deploymentId, state }))
  const judged = judgeAll(service, { deploy, deployments, waitMs }, states)
  if (judged.verdict === 'wait') return undefined
  if (judged.verdict === 'switch') return { kind: 'switch' }
  if (judged.reason === 'unavailable')
    return { kind: 'unavailable', message: describeAway(loads), keepsWish }
  return { kind: 'uncompilable', ...(await describeLoads(service, deploy, loads)) }
}

/** Who could not load it, and why. */
function describeAway(loads: readonly Load[]): string {
  const away = loads.filter(({ state }) => state === 'away')
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

function judgeAll(
  service: StateService,
  { deploy, deployments, waitMs }: Judged,
  loads: LoadsInput['loads'],
): JudgedLoads {
  if (isStaged(deploy.sources)) return judgeStageLoads(loads.map(({ state }) => state))
  return judgeLoads({
    deployments,
    loads,
    elapsedMs: service.now() - deploy.startedAt,
    waitMs,
  })
}

/** What the compilers said, with the author's own file and line. */
async function describeLoads(
  service: StateService,
  deploy: DeployRecord,
  loads: readonly Load[],
): Promise<Pick<Extract<LoadVerdict, { message: string }>, 'message' | 'failures'>> {
  const failed = loads
    .filter(({ state }) => state === 'failed')
    .map(({ agent, placement }) => ({
      agentId: placement.agentId,
      agentName: agent.name,
      error: placement.error ?? 'no reason given',
    }))
  const sourceMap = await readSourceMap(service, deploy)
  const message = describeFailures(failed, sourceMap)
  const failures = new Map<number, string>()
  for (const { agentId, error } of failed) {
    failures.set(agentId, translateError(error, sourceMap))
    await setImmediate() // each may have another long text
  }
  return { message, failures }
}
