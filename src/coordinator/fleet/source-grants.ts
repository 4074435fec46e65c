/** Lets an agent fetch, for a limited time, a source that its desired state does not name, to compile it for a validation. */
import type { Queries } from '../store/store.js'

export async function grantSource(
  queries: Queries,
  grant: { readonly agentId: number; readonly sha: string; readonly expiresAt: number },
  now: number,
): Promise<void> {
  await queries.deleteFrom('sourceGrants').where('expiresAt', '<', now).execute()
  await queries
    .insertInto('sourceGrants')
    .values(grant)
    .onConflict((conflict) =>
      conflict.columns(['agentId', 'sha']).doUpdateSet({ expiresAt: grant.expiresAt }),
    )
    .execute()
}

export async function isSourceGranted(
  queries: Queries,
  grant: { readonly agentId: number; readonly sha: string },
  now: number,
): Promise<boolean> {
  const row = await queries
    .selectFrom('sourceGrants')
    .select('expiresAt')
    .where('agentId', '=', grant.agentId)
    .where('sha', '=', grant.sha)
    .where('expiresAt', '>=', now)
    .executeTakeFirst()
  return row !== undefined
}
