/** Bans all objects of a group on some of its agents, as part of a decision of the coordinator. Call under the decision lock. */
import { invalidationStates } from '../../resources/invalidation.js'
import type { Queries } from '../store/store.js'
import { scopeOfOwner } from '../store/scope.js'
import { defaultTtlSeconds, type InvalidationContent } from './invalidation.js'
import { appendInvalidation } from './invalidation-queries.js'
import {
  findMembers,
  keepCovered,
  readAbleAgents,
  type FoundTarget,
} from './invalidation-target.js'
import { keepSet } from './target-queries.js'

export interface GroupBan {
  readonly group: {
    readonly id: number
    readonly name: string
    readonly organizationId: number | null
  }
  readonly agentIds: readonly number[]
  readonly account: string
  readonly traceId: string
  readonly now: number
}

/** Matches every object, because each has a status. */
const content: InvalidationContent = {
  type: 'ban',
  expressions: [[{ field: 'obj.status', operator: '!=', value: '0' }]],
}

/** Agents are notified once the entry is on disk: `notifyInvalidationsLogged`. */
export async function banGroup(
  queries: Queries,
  { group, agentIds, account, traceId, now }: GroupBan,
): Promise<void> {
  const { id, name, organizationId } = group
  const scope = scopeOfOwner(organizationId)
  const target: FoundTarget = { record: { vclGroup: { id, name } }, by: { groupIds: [id] } }
  const wanted = new Set(agentIds)
  const agents = (await readAbleAgents(queries, scope, target)).filter((one) => wanted.has(one.id))
  const covered = keepCovered(await findMembers(queries, scope, { agents, target, content }))
  const setId = await keepSet(queries, covered)
  await appendInvalidation(queries, {
    content,
    target: target.record,
    warnings: [],
    account,
    traceId,
    organizationId,
    ttlSeconds: defaultTtlSeconds,
    createdAt: now,
    setId,
    attemptSetId: setId,
    outcome: covered.length === 0 ? invalidationStates.Completed : null,
  })
}
