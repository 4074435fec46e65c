/** Would this group deploy: placement is decided and the VCL compiled on one fitting agent, nothing is kept or changed. */
import type { Context } from '../../context.js'
import { indexAgents } from '../../domain/agent-index.js'
import { describeFailures } from '../../domain/compiler-text.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import type { CompileAnswer } from '../../messages/coordinator-to-agent.js'
import { readDeploymentsOf } from '../../store/deployments.js'
import { readFleet, type FleetAgent } from '../../store/fleet.js'
import { readPlacements } from '../../store/placements.js'
import { scopeOfOwner } from '../../store/scope.js'
import { grantSource } from '../../store/source-grants.js'
import { keepSource, type SourceRecord } from '../../store/sources.js'
import { findGroup, type GroupRecord } from '../../store/vcl-groups.js'
import { gatherSources } from './deploy-sources.js'
import { instructAgent } from './instruct.js'
import { decidePlacement } from './placing.js'
import { scopeOf, type StateService } from './service.js'
import { describeShortages } from './shortage.js'

/** One load may take 120 s (choices: 4), and the manager may be busy with another. */
const compileTimeoutMs = 150_000

/** Throws FleetError as a deploy would: not-found, uncompilable, conflict, unavailable; timed-out. */
export async function validateVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  groupId: number,
): Promise<void> {
  const group = await findGroup(service.store.queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  const gathered = await gatherSources(service, group)
  if ('error' in gathered) throw new FleetError('uncompilable', 'deploy', gathered.error)
  const agent = await chooseAgent(service, group)
  const error = await compileOn(service, context, agent, gathered.source)
  if (error === null) return
  const text = describeFailures([{ agentName: agent.name, error }], gathered.source.sourceMap)
  throw new FleetError('uncompilable', 'deploy', text)
}

/** The first agent that a deploy would use. */
async function chooseAgent(service: StateService, group: GroupRecord): Promise<FleetAgent> {
  const { queries } = service.store
  const fleet = await readFleet(queries, scopeOfOwner(group.organizationId))
  const deployments = await readDeploymentsOf(
    queries,
    group.deployments.map(({ id }) => id),
  )
  const decision = decidePlacement({
    group,
    deployments,
    agents: indexAgents(fleet),
    placements: await readPlacements(queries, { groupIds: [group.id] }),
  })
  const shortage = describeShortages(decision, deployments)
  if (shortage) throw new FleetError(shortage.kind, 'deploy', shortage.message)
  const [place] = [...decision.keep, ...decision.add]
  const agent = fleet.find(({ id }) => id === place?.agentId)
  if (!agent) throw new FleetError('unavailable', 'deploy', 'no agent is there to compile on')
  return agent
}

/** The compiler's words; null when it compiles. */
async function compileOn(
  service: StateService,
  context: Context,
  agent: FleetAgent,
  source: SourceRecord,
): Promise<string | null> {
  const now = service.now()
  await service.store.transaction(async (queries) => {
    await keepSource(queries, source, now)
    const expiresAt = now + compileTimeoutMs
    await grantSource(queries, { agentId: agent.id, sha: source.sha, expiresAt }, now)
  })
  const value = await instructAgent(service, context, {
    agentId: agent.id,
    question: { kind: 'compile', sha: source.sha },
    timeoutMs: compileTimeoutMs,
  })
  return (value as CompileAnswer).error // the codec checked the answer's envelope; agents answer this shape
}
