/** Counts the healthy backends of the VCL that is rolled out, as each agent reports them. */
import { rolloutStates } from '../../resources/rollout.js'
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** Returns the counts by agent, without agents that have not reported this VCL. Reads only if a gate needs them. */
export async function countHealthy(
  queries: Queries,
  { policy, sources, waves, state }: RolloutRecord,
): Promise<ReadonlyMap<number, number>> {
  const isAsked = policy.gates.some(({ name }) => name === 'backendsHealthy')
  if (!isAsked || state === rolloutStates.RollingBack) return new Map()
  const { programName } = sources
  const agentIds = waves.flatMap(({ agents }) => agents.map(({ id }) => id))
  const healthy = new Map<number, number>()
  const served = await inPieces(agentIds, (ids) =>
    queries
      .selectFrom('servedVcls')
      .select(['agentId', 'backends', 'omittedHealthy'])
      .where('vcl', '=', programName)
      .where('agentId', 'in', ids)
      .execute(),
  )
  for (const { agentId, backends, omittedHealthy } of served)
    healthy.set(agentId, (JSON.parse(backends) as string[]).length + omittedHealthy) // names, as they were reported
  const sick = await inPieces(agentIds, (ids) =>
    queries
      .selectFrom('sickBackends')
      .select((e) => ['agentId', e.fn.countAll<number>().as('count')])
      .where('vcl', '=', programName)
      .where('agentId', 'in', ids)
      .groupBy('agentId')
      .execute(),
  )
  for (const { agentId, count } of sick)
    healthy.set(agentId, Math.max(0, (healthy.get(agentId) ?? 0) - count))
  return healthy
}
