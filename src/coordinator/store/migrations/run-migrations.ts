/** Brings the tables up to date, forward only; several coordinators may start at once. */
import { CompiledQuery, sql, type Transaction } from 'kysely'
import { FleetError } from '../../../errors.js'
import type { Database } from '../database.js'
import type { Tables } from '../schema.js'
import { initialTables } from './0001-initial.js'
import { domainTables } from './0002-domains.js'
import { keptPlaces } from './0003-kept-places.js'
import { engineSettingTables } from './0004-engine-settings.js'
import { coordinatorTables } from './0005-coordinators.js'
import { stageTables } from './0006-stages.js'
import { adoptionColumns } from './0007-adoption.js'
import { identityTables } from './0010-identity.js'
import { identityProviderTables } from './0011-identity-providers.js'
import { eventTables } from './0020-events.js'
import { managedByColumns } from './0021-managed-by.js'
import { invalidationTables } from './0040-invalidations.js'
import { invalidationEvents } from './0041-invalidation-events.js'
import { openInvalidations } from './0042-open-invalidations.js'
import { consoleUserTables } from './0050-console-users.js'
import { consoleCacheColumns } from './0051-console-caches.js'
import { consoleGroupTables } from './0052-console-groups.js'
import { messageIndex } from './0053-message-index.js'
import { fileDescriptions } from './0055-file-descriptions.js'
import { apiLogSearch } from './0065-api-log-search.js'
import { editEvents } from './0066-edit-events.js'
import { quotaColumns } from './0074-quotas.js'
import { replacedPlaces } from './0076-replaced-places.js'
import { endedDeploys } from './0078-ended-deploys.js'
import { recordedRevisions } from './0079-recorded-revisions.js'
import { lockedAndAdoptedColumns } from './0084-locked-and-adopted.js'
import { waitingRows } from './0085-waiting-rows.js'
import type { Migration } from './migration.js'

export const migrations: readonly Migration[] = [
  initialTables,
  domainTables,
  keptPlaces,
  engineSettingTables,
  coordinatorTables,
  stageTables,
  adoptionColumns,
  identityTables,
  identityProviderTables,
  eventTables,
  managedByColumns,
  invalidationTables,
  invalidationEvents,
  openInvalidations,
  consoleUserTables,
  consoleCacheColumns,
  consoleGroupTables,
  messageIndex,
  fileDescriptions,
  apiLogSearch,
  editEvents,
  quotaColumns,
  replacedPlaces,
  endedDeploys,
  recordedRevisions,
  lockedAndAdoptedColumns,
  waitingRows,
]

/** Throws FleetError 'unavailable' for a store that a newer version has written. Nothing is done in part. */
export async function runMigrations(
  database: Database,
  known: readonly Migration[] = migrations,
): Promise<void> {
  const { dialect } = database
  await database.migrate(async (queries) => {
    await execute(queries, [
      `create table if not exists migrations (name ${dialect.text} not null primary key, "ranAt" ${dialect.integer} not null) ${dialect.tableOptions}`,
    ])
    const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(
      queries,
    )
    const ran = new Set(rows.map((row) => row.name))
    refuseNewer(ran, known)
    await execute(queries, dialect.definitions)
    for (const migration of known) {
      if (ran.has(migration.name)) continue
      await execute(queries, migration.statements(dialect))
      await sql`insert into migrations values (${migration.name}, ${Date.now()})`.execute(queries)
    }
  })
}

async function execute(queries: Transaction<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await queries.executeQuery(CompiledQuery.raw(statement))
}

function refuseNewer(ran: ReadonlySet<string>, known: readonly Migration[]): void {
  const names = known.map((migration) => migration.name)
  const newer = [...ran].filter((name) => !names.includes(name))
  if (newer.length > 0)
    throw new FleetError(
      'unavailable',
      'store',
      `a newer version has written this store: it has ${newer.join(', ')}, this version knows up to ` +
        `${names.at(-1) ?? 'nothing'}. Start that version, or restore a copy from before the upgrade`,
    )
}
