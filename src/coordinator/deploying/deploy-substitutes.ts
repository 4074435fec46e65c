/** An agent that goes away while loading counts as not available; another fitting one is asked (choices: 3, Deploy). */
import { indexAgents } from '../fleet/agent-index.js'
import { programOf } from '../fleet/vcl-group.js'
import { holdsDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { readFleet } from '../fleet/fleet.js'
import { readPlacements, savePlacements } from '../fleet/placement-queries.js'
import { scopeOfOwner } from '../store/scope.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { findGroup } from '../fleet/group-queries.js'
import type { Load } from './deploy-loads.js'
import { markLeaving } from './stage-end.js'
import { createPlacement, decidePlacement } from '../placement/placing.js'
import type { StateService } from '../service.js'

/** Answers the agents that were asked in their place; empty when none fits. */
export async function replaceAway(
  service: StateService,
  deploy: DeployRecord,
  loads: readonly Load[],
): Promise<readonly number[]> {
  const away = new Set(loads.filter(({ state }) => state === 'away').map(({ agent }) => agent.id))
  return service.store.decide(async (queries) => {
    const isRunning = await holdsDeploy(queries, deploy)
    const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
    if (!isRunning || !group) return []
    const placements = await readPlacements(queries, { groupIds: [deploy.groupId], stage: false })
    const decision = await decidePlacement(queries, {
      group: {
        id: group.id,
        domains: deploy.sources.domains,
        promoting: deploy.action === 'promote',
      },
      deployments: await readDeploymentsOfGroup(queries, group.id, deploy.sources.deploymentIds),
      agents: indexAgents(await readFleet(queries, scopeOfOwner(group.organizationId))),
      // Who is away keeps the row (the switch decides about it) but holds no place in this count.
      placements: placements.filter(
        ({ agentId, candidate }) => candidate !== null && !away.has(agentId),
      ),
      exclude: away,
    })
    const program = programOf(deploy.sources)
    const added = decision.add.map((place) =>
      createPlacement({ ...place, group, revision: deploy.revision, program }),
    )
    if (deploy.action === 'promote') await markLeaving(queries, group.id, [...placements, ...added])
    await savePlacements(queries, added)
    return recomposeDesired(
      queries,
      added.map(({ agentId }) => agentId),
    )
  })
}
