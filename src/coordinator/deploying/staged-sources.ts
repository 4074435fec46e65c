/** What a promote would put on caches, and its tests. */
import type { Context } from '../../context.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { flattenFiles, type Gathered } from '../groups/deploy-sources.js'
import { recallSources } from '../groups/recall-sources.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { requireFlat, requireTested } from './judge-sources.js'
import { requireStage } from './stage.js'

/** Answers what was tested; null: there are no tests, or they are skipped. */
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
  // The text is another one when the group got its first domains since, or lost them: the prologue comes or goes.
  if ((domains.length === 0) !== (sources.domains.length === 0))
    return flattenFiles(service, queries, group, sources)
  const deploymentIds = deployments.map(({ id }) => id)
  const own = { domains, deploymentIds, releases }
  return recallSources(service, queries, group, { ...sources, ...own })
}
