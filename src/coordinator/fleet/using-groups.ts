/** The VCL groups that refer to an object and so prevent its deletion. */
import { sql, type SqlBool } from 'kysely'
import type { TableColumn } from '../store/list-query.js'
import type { Queries } from '../store/store.js'

/** Returns their names, at most `limit`. `columns`: columns of groups and their parts that hold the object's id. */
export async function readUsingGroups(
  queries: Queries,
  columns: readonly TableColumn[],
  id: number,
  limit: number,
): Promise<string[]> {
  const uses = columns.map((column) => {
    const [table = ''] = column.split('.')
    const group = sql.ref(`${table}.${table === 'vclGroups' ? 'id' : 'groupId'}`)
    const users = sql`select ${group} from ${sql.table(table)} where ${sql.ref(column)} = ${id}`
    return sql<SqlBool>`${sql.ref('vclGroups.id')} in (${users})`
  })
  const rows = await queries
    .selectFrom('vclGroups')
    .select('name')
    .where((e) => e.or(uses))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}
