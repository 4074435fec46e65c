/**
 * Which link of an agent counts, when several coordinators share the store: the one that claimed it last, by comparing and
 * setting. Of two that come at once with one credential only one gets it.
 */
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** Answers false when another link claimed the agent since `before` was read, or the agent is gone. */
export async function claimLink(
  queries: Queries,
  agentId: number,
  { before, linkId }: { readonly before: string | null; readonly linkId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('agents')
    .set({ linkId })
    .where('id', '=', agentId)
    // The earlier link may have released it meanwhile.
    .where((e) => e.or([e('linkId', 'is', null), e('linkId', '=', before)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Nothing when another link has claimed the agent since. */
export async function releaseLink(
  queries: Queries,
  agentId: number,
  linkId: string,
): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ linkId: null })
    .where('id', '=', agentId)
    .where('linkId', '=', linkId)
    .execute()
}

interface LinkRow {
  readonly id: number
  readonly state: number
  readonly keyDigest: string
  readonly linkId: string | null
}

/** Agents that are gone are left out. */
export async function readLinks(queries: Queries, agentIds: readonly number[]): Promise<LinkRow[]> {
  return inPieces(agentIds, (ids) =>
    queries
      .selectFrom('agents')
      .select(['id', 'state', 'keyDigest', 'linkId'])
      .where('id', 'in', ids)
      .execute(),
  )
}
