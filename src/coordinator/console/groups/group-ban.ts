/** Bans for the caches of one group: an ordinary invalidation, awaited briefly. */
import type { Context } from '../../../context.js'
import type { Actor } from '../../../resources/permission.js'
import { readAgents, type AgentRecord } from '../../fleet/agent-queries.js'
import {
  createInvalidation,
  type InvalidationRequest,
} from '../../invalidations/create-invalidation.js'
import { viewInvalidation, type InvalidationView } from '../../invalidations/invalidation-view.js'
import { waitForEnd } from '../../invalidations/wait-for-results.js'
import type { StateService } from '../../service.js'

/** docs/behaviour.md, Console bans: a response after at most 5 s; the rest is for creating the entry and the response. */
const waitMs = 4_500

type GroupBan = Pick<InvalidationRequest, 'expression' | 'expressions'>

export interface GroupBanView extends InvalidationView {
  /** The agents it is for, by id; without agents deleted meanwhile. */
  readonly agents: ReadonlyMap<number, AgentRecord>
}

/**
 * Returns its progress so far; delivery to absent caches continues. Groups of the controller are allowed too, since a ban does not
 * change them. Throws like createInvalidation.
 */
export async function banInGroup(
  service: StateService,
  { context, actor }: { readonly context: Context; readonly actor: Actor },
  { id }: { readonly id: number },
  ban: GroupBan,
): Promise<GroupBanView> {
  const { entry } = await createInvalidation(service, context, actor, {
    type: 'ban',
    ...ban,
    target: { vclGroup: { id } },
  })
  const ended = entry.outcome === null ? await waitForEnd(service, entry.id, waitMs) : undefined
  const view = ended ?? (await viewInvalidation(service, entry))
  const agentIds = view.results.map(({ agent }) => agent.id)
  const agents = await readAgents(service.store.queries, { kind: 'all' }, agentIds)
  return { ...view, agents: new Map(agents.map((agent) => [agent.id, agent])) }
}
