/**
 * Which revision each agent was wanted to have when a backup was made. A deploy may come before the agent does and count its revision on
 * past what the agent holds: what it is compared with is this, until it was seen to hold no more, or was unlocked.
 */
import { sql } from 'kysely'
import { deleteSetting, readSetting } from '../store/settings.js'
import type { Queries } from '../store/store.js'

const prefix = 'restoredRevision:'

/** Of all agents of a store that is restored. */
export async function noteRestoredRevisions(queries: Queries): Promise<void> {
  await sql`
    insert into settings (name, value)
    select ${prefix} || id, cast("desiredRevision" as text) from agents where true
    on conflict (name) do update set value = excluded.value`.execute(queries)
}

/** Undefined: it was seen since, or nothing was restored. */
export async function readRestoredRevision(
  queries: Queries,
  agentId: number,
): Promise<number | undefined> {
  const value = await readSetting(queries, `${prefix}${agentId}`)
  return value === undefined ? undefined : Number(value)
}

export async function forgetRestoredRevision(queries: Queries, agentId: number): Promise<void> {
  await deleteSetting(queries, `${prefix}${agentId}`)
}
