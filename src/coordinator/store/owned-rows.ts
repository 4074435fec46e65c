/** Reads rows that belong to an organization, with their owner. */
import type { Expression, Selectable, SelectQueryBuilder, SqlBool } from 'kysely'
import type { Tables } from './schema.js'
import type { Queries } from './store.js'

type OwnedTable =
  | 'tags'
  | 'files'
  | 'domains'
  | 'deployments'
  | 'vclGroups'
  | 'invalidations'
  | 'certificates'
  | 'webhooks'
  | 'rollouts'

export type OwnedRow<T extends OwnedTable> = Readonly<Selectable<Tables[T]>> & {
  readonly organizationName: string | null
}

type OwnedQuery<T extends OwnedTable> = SelectQueryBuilder<Tables, T | 'organizations', OwnedRow<T>>

export function selectOwned<T extends OwnedTable>(
  queries: Queries,
  table: T,
  condition: Expression<SqlBool>,
): OwnedQuery<T> {
  const any = table as 'domains' // all tables have the columns used here
  const rows = queries
    .selectFrom(any)
    .leftJoin('organizations', 'organizations.id', `${any}.organizationId`)
    .selectAll(any)
    .select('organizations.name as organizationName')
    .where(condition)
  return rows as unknown as OwnedQuery<T>
}
