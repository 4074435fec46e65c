/** Creates the tables or migrates them, forward only; several coordinators may start at once. */
import { CompiledQuery, sql, type Transaction } from 'kysely'
import { FleetError } from '../../../errors.js'
import type { Database } from '../database.js'
import { createMigrationsTable, createSchema, type Tables } from '../schema.js'
import { backends } from './backends.js'
import { groupTests } from './group-tests.js'
import { heartbeats } from './heartbeats.js'
import { logsAndStages } from './logs-and-stages.js'
import { maintenance } from './maintenance.js'
import { marks } from './marks.js'
import type { Migration } from './migration.js'
import { problems } from './problems.js'
import { webhooks } from './webhooks.js'
import { requireTests } from './require-tests.js'
import { rollouts } from './rollouts.js'

/** The tables of the first release: the oldest store that can be opened. */
const firstTables = '0001-tables'

/** Migrations since the first release, in order. `schema.ts` includes their changes: a new store needs none of them. */
const released: readonly Migration[] = [
  ...[marks, backends, problems, logsAndStages],
  ...[maintenance, webhooks, rollouts, groupTests, requireTests, heartbeats],
]

/** Throws FleetError 'invalid' for a store newer than this version or older than the first release. All or nothing. */
export async function runMigrations(
  database: Database,
  known: readonly Migration[] = released,
): Promise<void> {
  const { dialect } = database
  await database.migrate(async (queries) => {
    await execute(queries, [createMigrationsTable(dialect)])
    const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(
      queries,
    )
    const ran = rows.map(({ name }) => name)
    const isNew = ran.length === 0
    const names = [firstTables, ...known.map(({ name }) => name)]
    if (!isNew) requireKnown(ran, names)
    await execute(queries, dialect.definitions)
    if (isNew) await execute(queries, createSchema(dialect))
    else
      for (const { name, statements } of known)
        if (!ran.includes(name)) await execute(queries, statements(dialect))
    for (const name of names)
      if (!ran.includes(name))
        await sql`insert into migrations values (${name}, ${Date.now()})`.execute(queries)
  })
}

/** Changes nothing. Throws FleetError as `runMigrations` does. */
export async function requireKnownMigrations({
  queries,
}: Pick<Database, 'queries'>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(
    queries,
  )
  requireKnown(
    rows.map(({ name }) => name),
    [firstTables, ...released.map(({ name }) => name)],
  )
}

async function execute(queries: Transaction<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await queries.executeQuery(CompiledQuery.raw(statement))
}

function requireKnown(ran: readonly string[], known: readonly string[]): void {
  if (!ran.includes(firstTables))
    throw refuse(
      `a development version from before release 0.1.0 has made this store: it has ${ran.at(-1) ?? ''}, not ${firstTables}, ` +
        'and cannot be brought up to date. Start that version to save what you need, and this one with a new store',
    )
  const newer = ran.filter((name) => !known.includes(name))
  if (newer.length > 0)
    throw refuse(
      `a newer version has written this store: it has ${newer.join(', ')}, this version knows up to ` +
        `${known.at(-1) ?? ''}. Start that version, or restore a copy from before the upgrade`,
    )
}

/** A retry does not help: the daemon exits with 78. */
function refuse(message: string): FleetError {
  return new FleetError('invalid', 'store', message)
}
