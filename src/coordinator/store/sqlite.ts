/**
 * The store on SQLite: one connection, one transaction at a time, on disk before it resolves.
 * Only this file and `postgres.ts` know which database is used.
 */
import { chmodSync, closeSync, openSync } from 'node:fs'
import {
  CompiledQuery,
  Kysely,
  SqliteDialect,
  SqliteDriver,
  sql,
  type DatabaseConnection,
  type Driver,
  type Transaction,
} from 'kysely'
import { BetterSqlite3, type SqliteFile } from './sqlite-library.js'
import { FleetError } from '../../errors.js'
import type { Database, DialectSql } from './database.js'
import { requireRoom } from './disk-room.js'
import { createGroupCommit, type GroupConnection } from './group-commit.js'
import { openJournal, type SqliteJournal } from './sqlite-journal.js'
import { createReadMemory, createWriteCount } from './read-memory.js'
import type { Tables } from './schema.js'
import { translated, translateError } from './sqlite-errors.js'
import { statementCache, type StatementCache } from './sqlite-statements.js'
import { retryWhileBusy, YieldingConnection, StoreBusy } from './sqlite-busy.js'
import type { TransactionOptions } from './store.js'
import { TransactionGuard } from './transaction-guard.js'
import { Semaphore } from '../../runtime/semaphore.js'

const inMemory = ':memory:'

/** How long a start waits for another process, blocking this one. */
const openTimeoutMs = 5000

const dialectSql: DialectSql = {
  id: 'integer primary key autoincrement',
  integer: 'integer',
  text: 'text',
  tableOptions: 'strict',
  definitions: [],
  trigger: ({ name, table, after, when = 'true', work }) => [
    `create trigger "${name}" after ${after} on "${table}" when ${when} begin ${work}; end`,
  ],
}

/** Loads the native library now: at its first use this process may run as a user who cannot read the file. */
export function loadSqlite(): void {
  new BetterSqlite3(inMemory).close()
}

/** Opens or creates the file, readable by its owner only. Throws FleetError 'unavailable' on failure. */
export function openSqlite(path: string): Database {
  const file = openFile(path)
  const mutex = new Semaphore()
  const guard = new TransactionGuard()
  // Counts only the writes of other connections (sqlite.org/pragma.html#pragma_data_version).
  const others = file.prepare<[], number>('pragma data_version').pluck()
  const writes = createWriteCount(() => others.get() ?? 0)
  const connection: Connection = { file, mutex, guard, isGrouped: false }
  const database = statementCache(file, writes.note)
  const queries = new Kysely<Tables>({
    dialect: new OneConnectionDialect({ database }, connection),
  })
  const journal = path === inMemory ? null : openJournal(file)
  const groups = createGroupCommit(openGroups(connection, queries, journal))
  const transaction = async <T>(work: Work<T>, options?: TransactionOptions): Promise<T> => {
    guard.check()
    return groups.run(
      (held) =>
        writes.within(options?.agents, () =>
          held.transaction().execute((inside) => guard.run(() => work(inside))),
        ),
      options?.durable ?? true,
    )
  }
  return {
    dialect: dialectSql,
    queries,
    recall: createReadMemory(writes),
    transaction,
    decide: transaction,
    migrate: (work) => transaction(work),
    isUsedElsewhere: () =>
      mutex.run(async () => {
        await journal?.close() // the file is deleted and recreated
        return isLockedElsewhere(file)
      }),
    check: async () => {
      await sql`select 1`.execute(queries)
    },
    checkRoom: () => (path === inMemory ? Promise.resolve() : requireRoom(path)),
    close: async () => {
      await groups.finish()
      await journal?.close()
      await mutex.run(() => queries.destroy())
    },
  }
}

function openFile(path: string): SqliteFile {
  try {
    // Created before SQLite would, with the umask's mode; the journal files inherit this file's mode.
    if (path !== inMemory) {
      closeSync(openSync(path, 'a', 0o600))
      chmodSync(path, 0o600)
    }
    const file = new BetterSqlite3(path, { timeout: openTimeoutMs })
    file.pragma('journal_mode = WAL')
    file.pragma('synchronous = FULL')
    file.pragma('foreign_keys = ON')
    // Else the rollback data of savepoints is in a file that is written page by page (sqlite.org/tempfiles.html).
    file.pragma('temp_store = MEMORY')
    // List patterns are case-sensitive (docs/behaviour.md, Lists), as on PostgreSQL.
    file.pragma('case_sensitive_like = ON')
    file.function('iso_time', { deterministic: true }, (ms) =>
      typeof ms === 'number' ? new Date(ms).toISOString() : null,
    )
    // SQLite's own waiting would block this thread: from now on sqlite-busy.ts waits.
    file.pragma('busy_timeout = 0')
    return file
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new FleetError('unavailable', 'store', `cannot open the store ${path}: ${reason}`, {
      cause: error,
    })
  }
}

/** Only a process that has the file to itself can change the journal mode (sqlite.org/wal.html, section 4). */
function isLockedElsewhere(file: SqliteFile): boolean {
  try {
    file.pragma('journal_mode = DELETE')
    return false
  } catch (error) {
    const isBusy = translateError(error) instanceof StoreBusy
    if (isBusy) return true
    throw error
  } finally {
    file.pragma('journal_mode = WAL')
  }
}

type Work<T> = (queries: Transaction<Tables>) => Promise<T>

/**
 * Commits without waiting for the disk, then syncs outside this thread. SQLite's `synchronous` setting belongs to the
 * connection and cannot be changed within a transaction.
 */
function openGroups(
  connection: Connection,
  queries: Kysely<Tables>,
  journal: SqliteJournal | null,
): GroupConnection<Kysely<Tables>> {
  const { file } = connection
  const begin = file.prepare('begin immediate')
  const commit = file.prepare('commit')
  const unsync = file.prepare('pragma synchronous = NORMAL')
  const sync = file.prepare('pragma synchronous = FULL')
  const leave = (): void => {
    connection.isGrouped = false
    sync.run()
  }
  return {
    hold: (work) => queries.connection().execute(work),
    begin: async () => {
      unsync.run()
      await retryWhileBusy(() => translated(() => begin.run()))
      connection.isGrouped = true
    },
    commit: async (durable) => {
      translated(() => commit.run())
      leave()
      if (durable) await journal?.sync()
    },
    rollback: () => {
      if (file.inTransaction) file.exec('rollback')
      leave()
    },
    isOpen: () => file.inTransaction,
  }
}

interface Connection {
  readonly file: SqliteFile
  readonly mutex: Semaphore
  readonly guard: TransactionGuard
  /** A group's transaction is open: its members run as savepoints. */
  isGrouped: boolean
}

interface StoreDialectConfig {
  readonly database: StatementCache
}

class OneConnectionDialect extends SqliteDialect {
  readonly #config: StoreDialectConfig
  readonly #connection: Connection

  constructor(config: StoreDialectConfig, connection: Connection) {
    super(config)
    this.#config = config
    this.#connection = connection
  }

  override createDriver(): Driver {
    return new OneConnectionDriver(this.#config, this.#connection)
  }
}

/** Kysely's own queue wakes every waiter at each turn, which is quadratic when a whole fleet connects at once. */
class OneConnectionDriver extends SqliteDriver {
  readonly #connection: Connection
  readonly #database: StatementCache
  #yielding: DatabaseConnection | null = null

  constructor(config: StoreDialectConfig, connection: Connection) {
    super(config)
    this.#connection = connection
    this.#database = config.database
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { guard, mutex, file } = this.#connection
    guard.check()
    await mutex.acquire()
    const only = await super.acquireConnection()
    this.#yielding ??= new YieldingConnection(only, this.#database, () => file.inTransaction)
    return this.#yielding
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection()
    this.#connection.mutex.release()
  }

  /** Immediate: a reader that becomes a writer could only fail, not wait, while another process writes. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const words = this.#connection.isGrouped ? 'savepoint member' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(words))
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#connection.isGrouped) return super.commitTransaction(connection)
    await connection.executeQuery(CompiledQuery.raw('release member'))
  }

  /** When the disk is full, SQLite has already rolled back; a second rollback would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#connection.file.inTransaction) return
    if (!this.#connection.isGrouped) return super.rollbackTransaction(connection)
    await connection.executeQuery(CompiledQuery.raw('rollback to member'))
    await connection.executeQuery(CompiledQuery.raw('release member'))
  }
}
