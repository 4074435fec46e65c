/**
 * The desired revision of each agent at the time of the backup. A deploy may precede the agent's reconnect and raise its
 * revision past the one it holds, so the agent's is compared with this one until it holds no newer one or is unlocked.
 */
import { sql } from 'kysely'
import { gatherReads } from '../store/gathered-reads.js'
import { listTexts } from '../store/given-rows.js'
import { deleteSetting } from '../store/settings.js'
import type { Queries } from '../store/store.js'

const prefix = 'restoredRevision:'

/** Records them for all agents of a restored store. */
export async function noteRestoredRevisions(queries: Queries): Promise<void> {
  await sql`
    insert into settings (name, value)
    select ${prefix} || id, cast("desiredRevision" as text) from agents where true
    on conflict (name) do update set value = excluded.value`.execute(queries)
}

const readValues = gatherReads(
  (queries) =>
    queries.selectFrom('settings').select(['name', 'value']).where('name', 'in', listTexts([])),
  ({ name }) => name,
)

/** Undefined: the agent was checked since then, or nothing was restored. */
export async function readRestoredRevision(
  queries: Queries,
  agentId: number,
): Promise<number | undefined> {
  const [row] = await readValues(queries, `${prefix}${agentId}`)
  return row && Number(row.value)
}

export async function forgetRestoredRevision(queries: Queries, agentId: number): Promise<void> {
  await deleteSetting(queries, `${prefix}${agentId}`)
}
