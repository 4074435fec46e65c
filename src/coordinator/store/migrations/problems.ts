/** Problems are stored, so that they can be listed, counted and told. */
import { createTable } from '../tables/table.js'
import { problemTables } from '../tables/problems.js'
import type { Migration } from './migration.js'

export const problems: Migration = {
  name: '0004-problems',
  statements: (dialect) =>
    Object.entries(problemTables).flatMap(([name, table]) => createTable(name, table, dialect)),
}
