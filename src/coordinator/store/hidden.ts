/** A console's group has a tag and a deployment of its own, which people never see, name or give: marked with its id. */
import { sql, type Expression, type SqlBool } from 'kysely'

/** Of a new one. */
export interface HiddenFor {
  /** The group; left out: it is people's. */
  readonly groupId?: number
}

/** The condition for whatever people list, refer to or replace. */
export function isPeoples(table: 'tags' | 'deployments'): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref(`${table}.groupId`)} is null`
}
