/** Join tokens: what lets a new agent in. Kept as digests; a use is counted by one conditional statement. */
import type { Selectable } from 'kysely'
import { toOwner, type NamedReference } from '../store/owner.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface JoinTokenRecord {
  readonly id: number
  /** Null: enrols agents that all organizations share. */
  readonly organization: NamedReference | null
  readonly label: string
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null
  readonly maxUses: number
  readonly uses: number
  /** Tags that its agents are given; deleted ones are left out. By id. */
  readonly tags: readonly NamedReference[]
  readonly createdAt: number
}

export function selectJoinTokens(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('joinTokens')
    .leftJoin('organizations', 'organizations.id', 'joinTokens.organizationId')
    .selectAll('joinTokens')
    .select('organizations.name as organizationName')
    .where(within(scope, 'joinTokens'))
}

type JoinTokenRow = Awaited<
  ReturnType<ReturnType<typeof selectJoinTokens>['executeTakeFirstOrThrow']>
>

export async function findJoinToken(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<JoinTokenRecord | undefined> {
  const row = await selectJoinTokens(queries, scope)
    .where('joinTokens.id', '=', id)
    .executeTakeFirst()
  return row && (await toJoinTokenRecords(queries, [row]))[0]
}

/** Gives the rows the names of their tags with one query more; the order stays. */
export async function toJoinTokenRecords(
  queries: Queries,
  rows: readonly JoinTokenRow[],
): Promise<JoinTokenRecord[]> {
  const ids = [...new Set(rows.flatMap((row) => tagIdsOf(row)))]
  const names = new Map<number, string>()
  if (ids.length > 0)
    for (const { id, name } of await queries
      .selectFrom('tags')
      .select(['id', 'name'])
      .where('id', 'in', ids)
      .execute())
      names.set(id, name)
  return rows.map((row) => ({
    id: row.id,
    organization: toOwner(row),
    label: row.label,
    expiresAt: row.expiresAt,
    maxUses: row.maxUses,
    uses: row.uses,
    tags: tagIdsOf(row).flatMap((id) => {
      const name = names.get(id)
      return name === undefined ? [] : [{ id, name }]
    }),
    createdAt: row.createdAt,
  }))
}

interface NewJoinToken {
  readonly organizationId: number | null
  readonly label: string
  readonly digest: string
  readonly expiresAt: number | null
  readonly maxUses: number
  readonly tagIds: readonly number[]
}

export async function insertJoinToken(
  queries: Queries,
  token: NewJoinToken,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('joinTokens')
    .values({ ...token, tagIds: JSON.stringify(token.tagIds), uses: 0, createdAt: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Answers false when it was not there. */
export async function deleteJoinTokenRow(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('joinTokens')
    .where('id', '=', id)
    .where(within(scope, 'joinTokens'))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

interface UsableJoinToken {
  readonly id: number
  readonly organizationId: number | null
  readonly tagIds: readonly number[]
}

/** A token that would let an agent in now. */
export async function findUsableJoinToken(
  queries: Queries,
  digest: string,
  now: number,
): Promise<UsableJoinToken | undefined> {
  const row = await queries
    .selectFrom('joinTokens')
    .select(['id', 'organizationId', 'tagIds'])
    .where('digest', '=', digest)
    .whereRef('uses', '<', 'maxUses')
    .where((e) => e.or([e('expiresAt', 'is', null), e('expiresAt', '>', now)]))
    .executeTakeFirst()
  return row && { id: row.id, organizationId: row.organizationId, tagIds: tagIdsOf(row) }
}

/** Counts a use; answers false when somebody else had the last one, or it expired or was revoked meanwhile. */
export async function countJoinTokenUse(
  queries: Queries,
  id: number,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('joinTokens')
    .set((e) => ({ uses: e('uses', '+', 1) }))
    .where('id', '=', id)
    .whereRef('uses', '<', 'maxUses')
    .where((e) => e.or([e('expiresAt', 'is', null), e('expiresAt', '>', now)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function tagIdsOf(row: Pick<Selectable<Tables['joinTokens']>, 'tagIds'>): number[] {
  return JSON.parse(row.tagIds) as number[] // written by insertJoinToken only
}
