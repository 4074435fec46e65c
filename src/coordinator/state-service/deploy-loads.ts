/** Phase one: the agents' loads are watched until they can be judged; agents that go away are replaced. */
import type { Context } from '../../context.js'
import { agentStates } from '../../domain/agent-state.js'
import { describeFailures, type LoadFailure } from '../../domain/compiler-text.js'
import { judgeLoads, type LoadState } from '../../domain/deploy-outcome.js'
import { readAgentStates, type AgentStateRow } from '../../store/agent-states.js'
import type { DeployRecord } from '../../store/deploys.js'
import { readDeploymentsOf, type DeploymentRecord } from '../../store/deployments.js'
import { readPlacements, type PlacementRecord } from '../../store/placements.js'
import { findSource } from '../../store/sources.js'
import { tellDesiredChanged } from './agent-hints.js'
import type { LoadVerdict } from './deploy-decision.js'
import { replaceAway } from './deploy-substitutes.js'
import type { StateService } from './service.js'
import { watchAgents } from './watch-agents.js'

/** Chosen by us: above the 120 s that one load may take, with a queue of them on the cache's one manager thread. */
const longestLoadMs = 600_000

/** 'stopping': the coordinator stops; the deploy's row stays and is discarded at the next start. */
export async function followLoads(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  waitMs: number,
): Promise<LoadVerdict | 'stopping'> {
  const deployments = await readDeploymentsOf(service.store.queries, deploy.sources.deploymentIds)
  // Each agent that goes away is replaced once; who arrives later is placed when the deploy has switched.
  let replaced = 0
  const verdict = await watchAgents(
    service,
    async () => {
      const loads = await readLoads(service, deploy)
      const away = loads.filter(({ state }) => state === 'away').length
      if (away > replaced) {
        replaced = away
        const agentIds = await replaceAway(service, deploy, loads)
        tellDesiredChanged(service, agentIds, context.traceId)
        if (agentIds.length > 0) return undefined
      }
      return judge(service, { deploy, deployments, loads, waitMs })
    },
    { untilMs: deploy.startedAt + longestLoadMs, signal: service.background.signal },
  )
  if (verdict) return verdict
  if (service.background.signal.aborted) return 'stopping'
  const minutes = longestLoadMs / 60_000
  return { kind: 'unavailable', message: `the caches did not load within ${minutes} minutes` }
}

export interface Load {
  readonly placement: PlacementRecord
  readonly agent: AgentStateRow
  readonly state: LoadState
}

/** The candidates of a deploy with the state of their agents. Two queries. */
async function readLoads(service: StateService, deploy: DeployRecord): Promise<Load[]> {
  const { queries } = service.store
  const placements = (await readPlacements(queries, { groupIds: [deploy.groupId] })).filter(
    (placement) => placement.candidate !== null,
  )
  const agents = await readAgentStates(queries, deploy.groupId)
  return placements.flatMap((placement): Load[] => {
    const agent = agents.get(placement.agentId)
    if (!agent) return []
    const state = placement.candidateState ?? 'pending'
    // A cache that died while loading says nothing about the VCL.
    const isAway = state !== 'loaded' && agent.state !== agentStates.Running
    return [{ placement, agent, state: isAway ? 'away' : state }]
  })
}

async function judge(
  service: StateService,
  following: {
    readonly deploy: DeployRecord
    readonly deployments: readonly DeploymentRecord[]
    readonly loads: readonly Load[]
    readonly waitMs: number
  },
): Promise<LoadVerdict | undefined> {
  const { deploy, deployments, loads, waitMs } = following
  const judged = judgeLoads({
    deployments,
    loads: loads.map(({ placement, state }) => ({
      agentId: placement.agentId,
      deploymentId: placement.deploymentId,
      state,
    })),
    elapsedMs: service.now() - deploy.startedAt,
    waitMs,
  })
  if (judged.verdict === 'wait') return undefined
  if (judged.verdict === 'switch') return { kind: 'switch' }
  if (judged.reason === 'unavailable')
    return { kind: 'unavailable', message: 'too few agents are left to load the VCL' }
  return { kind: 'uncompilable', message: await describeLoads(service, deploy, loads) }
}

/** What the compilers said, with the author's own file and line. */
async function describeLoads(
  service: StateService,
  deploy: DeployRecord,
  loads: readonly Load[],
): Promise<string> {
  const source = await findSource(service.store.queries, deploy.sources.sha)
  const failures = loads
    .filter(({ state }) => state === 'failed')
    .map(({ agent, placement }): LoadFailure => ({
      agentName: agent.name,
      error: placement.error ?? 'no reason given',
    }))
  return describeFailures(failures, source?.sourceMap ?? { files: [], segments: [] })
}
