/** Queries of join tokens, stored as digests; a use is counted by one conditional statement. */
import { expressionBuilder, type Selectable } from 'kysely'
import { joinToken } from '../../resources/join-token.js'
import { readingOf } from '../api/noun-reading.js'
import { readTagNames } from '../fleet/tag-queries.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { NamedReference } from '../store/owner.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Null enrols agents shared by all organizations. */
export interface JoinTokenRecord extends StoredRecord<typeof joinToken.fields> {
  /** Tags assigned to its agents, without deleted ones, sorted by id. */
  readonly tags: readonly NamedReference[]
}

function selectJoinTokens(queries: Queries, scope: Scope) {
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

const joinTokenColumns = listColumns(joinToken.fields, 'joinTokens')
const readStored = rowReader(joinToken.fields)

export const joinTokenReading = readingOf({
  noun: 'jointoken',
  select: selectJoinTokens,
  columnsFor: () => joinTokenColumns,
  toRecords: toJoinTokenRecords,
})

/** Adds the names of the tags with one more query, preserving the order. */
async function toJoinTokenRecords(
  rows: readonly JoinTokenRow[],
  queries: Queries,
): Promise<JoinTokenRecord[]> {
  const names = await readTagNames(queries, rows.flatMap(tagIdsOf))
  return rows.map((row) => ({
    ...readStored(row),
    tags: tagIdsOf(row).flatMap((id) => {
      const name = names.get(id)
      return name === undefined ? [] : [{ id, name }]
    }),
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

/** Returns false if it did not exist. */
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

const selectUsable = prepareQuery((queries) =>
  queries
    .selectFrom('joinTokens')
    .select(['id', 'organizationId', 'tagIds'])
    .where('digest', '=', '')
    .where(isUsable(0)),
)

/** Finds a token that is valid now. */
export async function findUsableJoinToken(
  queries: Queries,
  digest: string,
  now: number,
): Promise<UsableJoinToken | undefined> {
  const [row] = await selectUsable(queries, [digest, now])
  return row && { id: row.id, organizationId: row.organizationId, tagIds: tagIdsOf(row) }
}

const countUses = prepareQuery((queries) =>
  queries
    .updateTable('joinTokens')
    .set((e) => ({ uses: e('uses', '+', 1) }))
    .where('id', '=', 0)
    .where((e) => e(e('uses', '+', 1), '<=', e.ref('maxUses')))
    .where(isUsable(0))
    .returning('id'),
)

/** Counts this many uses or none; returns false if too few are left, or the token expired or was revoked in the meantime. */
export async function countJoinTokenUses(
  queries: Queries,
  id: number,
  { uses, now }: { readonly uses: number; readonly now: number },
): Promise<boolean> {
  const counted = await countUses(queries, [uses, id, uses, now])
  return counted.length > 0
}

function isUsable(now: number) {
  const e = expressionBuilder<Tables, 'joinTokens'>()
  return e.and([
    e('uses', '<', e.ref('maxUses')),
    e.or([e('expiresAt', 'is', null), e('expiresAt', '>', now)]),
  ])
}

function tagIdsOf(row: Pick<Selectable<Tables['joinTokens']>, 'tagIds'>): number[] {
  return JSON.parse(row.tagIds) as number[] // written by insertJoinToken only
}
