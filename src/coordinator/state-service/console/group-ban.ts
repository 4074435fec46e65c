/** Bans for the caches of one group: an invalidation as any other, waited for a moment. */
import type { Context } from '../../../context.js'
import type { Actor } from '../../../domain/permission.js'
import {
  createInvalidation,
  type InvalidationRequest,
} from '../invalidations/create-invalidation.js'
import type { InvalidationView } from '../invalidations/invalidation-view.js'
import { waitForEnd } from '../invalidations/wait-for-results.js'
import type { StateService } from '../service.js'

/** choices: 6, an answer after at most 5 s; the rest of them is for making the entry and the answer. */
const waitMs = 4_500

export type GroupBan = Pick<InvalidationRequest, 'expression' | 'expressions'>

/**
 * How far it is by then: it goes on for caches that are away. Of a group of the controller too, which it does not change.
 * Throws as createInvalidation.
 */
export async function banInGroup(
  service: StateService,
  { context, actor }: { readonly context: Context; readonly actor: Actor },
  { id }: { readonly id: number },
  ban: GroupBan,
): Promise<InvalidationView> {
  const made = await createInvalidation(service, context, actor, {
    ...{ type: 'ban', ...ban },
    target: { vclGroup: { id } },
  })
  if (made.entry.outcome !== null) return made
  return (await waitForEnd(service, made.entry.id, waitMs)) ?? made
}
