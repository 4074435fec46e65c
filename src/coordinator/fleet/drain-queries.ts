/** Drained agents: written here, read with the agents. */
import type { Queries } from '../store/store.js'
import { parseDrain, type DrainRecord } from './agent-queries.js'

/** Null ends it. */
export async function writeDrain(
  queries: Queries,
  agentId: number,
  drain: DrainRecord | null,
): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ draining: drain && JSON.stringify(drain) })
    .where('id', '=', agentId)
    .execute()
}

/** Ends expired drains. Returns their agents and the next expiry in milliseconds since 1970; null: none expires. */
export async function endDrains(
  queries: Queries,
  now: number,
): Promise<{ readonly ended: readonly number[]; readonly nextAt: number | null }> {
  const rows = await queries
    .selectFrom('agents')
    .select(['id', 'draining'])
    .where('draining', 'is not', null)
    .execute()
  const ends = rows.flatMap(({ id, draining }) => {
    const until = parseDrain(draining)?.until ?? null
    return until === null ? [] : [{ id, until }]
  })
  const ended = ends.filter(({ until }) => until <= now).map(({ id }) => id)
  if (ended.length > 0)
    await queries.updateTable('agents').set({ draining: null }).where('id', 'in', ended).execute()
  const next = Math.min(...ends.filter(({ until }) => until > now).map(({ until }) => until))
  return { ended, nextAt: Number.isFinite(next) ? next : null }
}
