/** Rows that belong to an organization each: read with their owner, made and changed alike in all tables. */
import type {
  Expression,
  Insertable,
  Selectable,
  SelectQueryBuilder,
  SqlBool,
  Updateable,
} from 'kysely'
import type { Tables } from './schema.js'
import type { Queries } from './store.js'

type OwnedTable = 'tags' | 'files' | 'domains' | 'deployments' | 'vclGroups' | 'invalidations'

export type OwnedRow<T extends OwnedTable> = Readonly<Selectable<Tables[T]>> & {
  readonly organizationName: string | null
}

type OwnedQuery<T extends OwnedTable> = SelectQueryBuilder<Tables, T | 'organizations', OwnedRow<T>>

type NotGiven = 'id' | 'organizationId' | 'createdAt' | 'updatedAt'

/** Flags as use cases have them. */
type WithFlags<Row> = {
  readonly [K in keyof Row]: [NonNullable<Row[K]>] extends [0 | 1] ? Row[K] | boolean : Row[K]
}

export function selectOwned<T extends OwnedTable>(
  queries: Queries,
  table: T,
  condition: Expression<SqlBool>,
): OwnedQuery<T> {
  const any = table as 'domains' // all have the columns that are named here
  const rows = queries
    .selectFrom(any)
    .leftJoin('organizations', 'organizations.id', `${any}.organizationId`)
    .selectAll(any)
    .select('organizations.name as organizationName')
    .where(condition)
  return rows as unknown as OwnedQuery<T>
}

/** Answers its id. */
export async function insertOwned<T extends OwnedTable>(
  queries: Queries,
  table: T,
  fields: WithFlags<Omit<Insertable<Tables[T]>, NotGiven>>,
  { owner, now }: { readonly owner: number | null; readonly now: number },
): Promise<number> {
  const row = { ...toStored(fields), organizationId: owner, createdAt: now, updatedAt: now }
  const { id } = await queries
    .insertInto(table as 'domains')
    .values(row as unknown as Insertable<Tables['domains']>)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateOwned<T extends OwnedTable>(
  queries: Queries,
  table: T,
  id: number,
  fields: WithFlags<Updateable<Tables[T]>>,
): Promise<void> {
  await queries
    .updateTable(table as 'domains')
    .set(toStored(fields) as Updateable<Tables['domains']>)
    .where('id', '=', id)
    .execute()
}

/** Foreign keys refuse it while something refers to it. */
export async function deleteOwned(queries: Queries, table: OwnedTable, id: number): Promise<void> {
  await queries
    .deleteFrom(table as 'domains')
    .where('id', '=', id)
    .execute()
}

function toStored(fields: object): object {
  const stored = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ])
  return Object.fromEntries(stored) as object
}
