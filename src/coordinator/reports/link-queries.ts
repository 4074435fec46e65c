/**
 * Which link of an agent counts, when several coordinators share the store: the one that claimed it last, by comparing and
 * setting. Of two that come at once with one credential only one gets it.
 */
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

/** Ids a statement: far below what either database takes as parameters. */
const idsPerStatement = 1000

/** Agents that are gone are left out. */
export async function readLinks(queries: Queries, agentIds: readonly number[]): Promise<LinkRow[]> {
  const rows: LinkRow[] = []
  for (let start = 0; start < agentIds.length; start += idsPerStatement)
    rows.push(
      ...(await queries
        .selectFrom('agents')
        .select(['id', 'state', 'keyDigest', 'linkId'])
        .where('id', 'in', agentIds.slice(start, start + idsPerStatement))
        .execute()),
    )
  return rows
}
