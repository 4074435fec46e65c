/** Gathers the sources that a promote would put on caches, and tests them. */
import type { Context } from '../../context.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { flattenFiles, type Gathered } from '../groups/deploy-sources.js'
import { recallSources } from '../groups/recall-sources.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { requireFlat, requireTested } from './judge-sources.js'
import { requireStage } from './stage.js'

/** Returns the SHA-256 of the tested text; null if there are no tests or they are skipped. */
export async function testStage(
  service: StateService,
  context: Context,
  request: Omit<Parameters<typeof requireTested>[2], 'action'>,
): Promise<string | null> {
  const { group, tests } = request
  if (group.tests.length === 0 || tests?.skip === true) return null
  const judged = { ...request, action: 'promote' } as const
  const staged = await gatherStage(service, service.store.queries, group)
  const gathered = await requireFlat(service, judged, staged)
  await requireTested(service, context, judged, gathered)
  return gathered.source.sha
}

export async function gatherStage(
  service: StateService,
  queries: Queries,
  group: GroupRecord,
): Promise<Gathered> {
  const { sources } = await requireStage(queries, group.id)
  const { domains, deployments, releases } = group
  // If the group has since gained its first domains or lost its last, the prologue comes or goes and the text changes.
  if ((domains.length === 0) !== (sources.domains.length === 0))
    return flattenFiles(service, queries, group, sources)
  const deploymentIds = deployments.map(({ id }) => id)
  const own = { domains, deploymentIds, releases }
  return recallSources(service, queries, group, { ...sources, ...own })
}
