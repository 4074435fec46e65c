/**
 * The claims of links on agents, when several coordinators share the store: the link that claimed an agent last is valid. A
 * claim is a compare-and-set, so of two simultaneous links with one credential only one gets it.
 */
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** Returns false if another link claimed the agent since `before` was read, or if the agent was deleted. */
export async function claimLink(
  queries: Queries,
  agentId: number,
  { before, linkId }: { readonly before: string | null; readonly linkId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('agents')
    .set({ linkId })
    .where('id', '=', agentId)
    // The earlier link may have released its claim since then.
    .where((e) => e.or([e('linkId', 'is', null), e('linkId', '=', before)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Changes nothing if another link has claimed the agent since. */
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

/** Deleted agents are omitted. */
export async function readLinks(queries: Queries, agentIds: readonly number[]): Promise<LinkRow[]> {
  return inPieces(agentIds, (ids) =>
    queries
      .selectFrom('agents')
      .select(['id', 'state', 'keyDigest', 'linkId'])
      .where('id', 'in', ids)
      .execute(),
  )
}
