/**
 * The tables, as both databases have them. Times are integer milliseconds since 1970, flags 0 or 1, JSON is text;
 * the query files convert (`fromRow`). `organizationId` null is the system administrator's own, or shared.
 *
 * A new store is made from this; one of an earlier release becomes the same by migrations (`migrations/run-migrations.ts`).
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

/** What others refer to comes before them. */
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

/** What queries are checked by: columns by table. */
export type Tables = { [Name in keyof Descriptions]: RowOf<Descriptions[Name]> }

/** What others refer to comes before them. */
export const tableNames = Object.keys(tables) as readonly (keyof Tables)[]

/** All that an empty database lacks. */
export function createSchema(dialect: DialectSql): string[] {
  return [
    ...Object.entries(tables).flatMap(([name, table]) => createTable(name, table, dialect)),
    `insert into "eventCounter" values (1, 0)`,
    `insert into "invalidationLog" values (1, 0)`,
    ...createTriggers(dialect),
  ]
}

/** Empty ones, for the rows of another store. */
export function createTables(dialect: DialectSql): string[] {
  return [
    createMigrationsTable(dialect),
    ...Object.entries(tables).flatMap(([name, table]) => createTable(name, table, dialect)),
  ]
}

export function createTriggers(dialect: DialectSql): string[] {
  return triggers.flatMap(dialect.trigger)
}

/** Which migrations ran. */
export function createMigrationsTable({ text, integer, tableOptions }: DialectSql): string {
  return `create table if not exists migrations (name ${text} not null primary key, "ranAt" ${integer} not null) ${tableOptions}`
}
