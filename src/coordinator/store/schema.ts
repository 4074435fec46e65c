/**
 * The tables of both databases. Times are integer milliseconds since 1970, flags are 0 or 1, JSON is text;
 * the query files convert (`fromRow`). `organizationId` null: owned by the system administrator, or shared.
 *
 * A new store is created from this; migrations (`migrations/run-migrations.ts`) bring a store of an earlier release to it.
 */
import type { DialectSql } from './database.js'
import { backendTables } from './tables/backends.js'
import { certificateTables } from './tables/certificates.js'
import { consoleTables } from './tables/console.js'
import { eventTables } from './tables/events.js'
import { agentTables, deploymentTables, fileTables } from './tables/fleet.js'
import { groupTables, placementTables } from './tables/groups.js'
import { identityTables } from './tables/identity.js'
import { invalidationTables } from './tables/invalidations.js'
import { problemTables } from './tables/problems.js'
import { rolloutTables } from './tables/rollouts.js'
import { createTable, type RowOf } from './tables/table.js'
import { triggers } from './tables/triggers.js'
import { webhookTables } from './tables/webhooks.js'

/** Referenced tables come before the tables that refer to them. */
const tables = {
  ...identityTables,
  ...agentTables,
  ...fileTables,
  ...groupTables,
  ...deploymentTables,
  ...placementTables,
  ...rolloutTables,
  ...backendTables,
  ...certificateTables,
  ...invalidationTables,
  ...eventTables,
  ...problemTables,
  ...webhookTables,
  ...consoleTables,
}

type Descriptions = typeof tables

/** The types that queries are checked against: columns by table. */
export type Tables = { [Name in keyof Descriptions]: RowOf<Descriptions[Name]> }

/** Referenced tables come before the tables that refer to them. */
export const tableNames = Object.keys(tables) as readonly (keyof Tables)[]

/** Everything that an empty database needs. */
export function createSchema(dialect: DialectSql): string[] {
  return [
    ...Object.entries(tables).flatMap(([name, table]) => createTable(name, table, dialect)),
    `insert into "eventCounter" values (1, 0)`,
    `insert into "invalidationLog" values (1, 0)`,
    ...createTriggers(dialect),
  ]
}

/** Empty tables, for the rows of another store. */
export function createTables(dialect: DialectSql): string[] {
  return [
    createMigrationsTable(dialect),
    ...Object.entries(tables).flatMap(([name, table]) => createTable(name, table, dialect)),
  ]
}

export function createTriggers(dialect: DialectSql): string[] {
  return triggers.flatMap(dialect.trigger)
}

/** Records which migrations ran. */
export function createMigrationsTable({ text, integer, tableOptions }: DialectSql): string {
  return `create table if not exists migrations (name ${text} not null primary key, "ranAt" ${integer} not null) ${tableOptions}`
}
