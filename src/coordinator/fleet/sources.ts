/** Flattened texts by their hash, fetched by agents, with a map from positions to the author's files. */
import { sql, type SqlBool } from 'kysely'
import type { SourceMap } from '../../vcl/bundle.js'
import type { Queries } from '../store/store.js'

export interface SourceRecord {
  readonly sha: string
  readonly text: string
  readonly sourceMap: SourceMap
}

/** Stores a text; an existing one is not changed. */
export async function keepSource(
  queries: Queries,
  source: SourceRecord,
  now: number,
): Promise<void> {
  await queries
    .insertInto('sources')
    .values({
      sha: source.sha,
      text: source.text,
      sourceMap: JSON.stringify(source.sourceMap),
      loads: 0,
      createdAt: now,
    })
    .onConflict((conflict) => conflict.column('sha').doNothing())
    .execute()
}

export async function findSource(queries: Queries, sha: string): Promise<SourceRecord | undefined> {
  const row = await queries
    .selectFrom('sources')
    .select(['sha', 'text', 'sourceMap'])
    .where('sha', '=', sha)
    .executeTakeFirst()
  // Written by keepSource only.
  return row && { ...row, sourceMap: JSON.parse(row.sourceMap) as SourceMap }
}

/** Counts one more load of a text and returns its number, from 1. */
export async function countLoad(queries: Queries, sha: string): Promise<number> {
  const { loads } = await queries
    .updateTable('sources')
    .set((e) => ({ loads: e('loads', '+', 1) }))
    .where('sha', '=', sha)
    .returning('loads')
    .executeTakeFirstOrThrow()
  return loads
}

/** Deletes texts that are no longer referenced. Call under the decision lock. */
export async function deleteUnusedSources(queries: Queries): Promise<void> {
  const named = (
    [
      ['placements', 'currentSha'],
      ['placements', 'candidateSha'],
      ['placements', 'previousSha'],
      ['vclGroups', 'wishSha'],
      ['stages', 'sha'],
      ['deploys', 'sha'],
      ['history', 'sha'],
      ['sourceGrants', 'sha'],
      ['agentRoutings', 'sha'],
    ] as const
  ).map(
    ([table, column]) =>
      sql<SqlBool>`not exists (select 1 from ${sql.table(table)} where ${sql.ref(`${table}.${column}`)} = sources.sha)`,
  )
  await queries
    .deleteFrom('sources')
    .where((e) => e.and(named))
    .execute()
}
