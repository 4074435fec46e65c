/**
 * The store on SQLite: one connection, one transaction at a time, on disk before it answers.
 * With `postgres.ts` the only file that knows which database this is.
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
  type SqliteDialectConfig,
  type Transaction,
} from 'kysely'
import { BetterSqlite3, type SqliteFile } from './sqlite-library.js'
import { FleetError } from '../../errors.js'
import type { Database, DialectSql } from './database.js'
import { requireRoom } from './disk-room.js'
import { createGroupCommit, type GroupConnection } from './group-commit.js'
import { openJournal, type SqliteJournal } from './sqlite-journal.js'
import { createReadMemory } from './read-memory.js'
import type { Tables } from './schema.js'
import { translated, translateError } from './sqlite-errors.js'
import { statementCache } from './sqlite-statements.js'
import { retryWhileBusy, RetryingConnection, StoreBusy } from './sqlite-busy.js'
import type { TransactionOptions } from './store.js'
import { TransactionGuard } from './transaction-guard.js'
import { Semaphore } from '../../runtime/semaphore.js'

const inMemory = ':memory:'

/** How long a start waits for another process; nothing else is done meanwhile. */
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

/** Its native part is read from disk at the first use: by then this process may be a user who cannot read it. */
export function loadSqlite(): void {
  new BetterSqlite3(inMemory).close()
}

/** Opens or makes the file, readable by its owner only. Throws FleetError 'unavailable' when it cannot. */
export function openSqlite(path: string): Database {
  const file = openFile(path)
  const mutex = new Semaphore()
  const guard = new TransactionGuard()
  const writes = countWrites(file)
  const connection: Connection = { file, mutex, guard, isGrouped: false }
  const queries = new Kysely<Tables>({
    dialect: new OneConnectionDialect({ database: statementCache(file, writes.note) }, connection),
  })
  const journal = path === inMemory ? null : openJournal(file)
  const groups = createGroupCommit(openGroups(connection, queries, journal))
  const transaction = async <T>(work: Work<T>, options?: TransactionOptions): Promise<T> => {
    guard.check()
    return groups.run(
      (held) => held.transaction().execute((inside) => guard.run(() => work(inside))),
      options?.durable ?? true,
    )
  }
  return {
    dialect: dialectSql,
    queries,
    recall: createReadMemory(writes.count),
    transaction,
    decide: transaction,
    migrate: (work) => transaction(work),
    isUsedElsewhere: () =>
      mutex.run(async () => {
        await journal?.close() // it is deleted, and made anew
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
    // Before SQLite does, whose mode would be the umask's; the journal's files take the mode of this one.
    if (path !== inMemory) {
      closeSync(openSync(path, 'a', 0o600))
      chmodSync(path, 0o600)
    }
    const file = new BetterSqlite3(path, { timeout: openTimeoutMs })
    file.pragma('journal_mode = WAL')
    file.pragma('synchronous = FULL')
    file.pragma('foreign_keys = ON')
    // What a savepoint would go back to, else in a file that is written page by page (sqlite.org/tempfiles.html).
    file.pragma('temp_store = MEMORY')
    // Patterns of lists are case-sensitive (docs/behaviour.md, Lists), as they are on PostgreSQL.
    file.pragma('case_sensitive_like = ON')
    file.function('iso_time', { deterministic: true }, (ms) =>
      typeof ms === 'number' ? new Date(ms).toISOString() : null,
    )
    // SQLite would wait in this thread: from now on it is done outside (sqlite-busy.ts).
    file.pragma('busy_timeout = 0')
    return file
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new FleetError('unavailable', 'store', `cannot open the store ${path}: ${reason}`, {
      cause: error,
    })
  }
}

/** The journal is changed by whoever has the file alone (sqlite.org/wal.html, section 4). */
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
 * Committed without waiting for the disk, then synced outside of this thread. How far SQLite syncs belongs to the connection,
 * and cannot be changed within a transaction.
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
  /** The transaction of a group is open: those in it are savepoints. */
  isGrouped: boolean
}

class OneConnectionDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  readonly #connection: Connection

  constructor(config: SqliteDialectConfig, connection: Connection) {
    super(config)
    this.#config = config
    this.#connection = connection
  }

  override createDriver(): Driver {
    return new OneConnectionDriver(this.#config, this.#connection)
  }
}

/** Kysely's own queue wakes every waiter at each turn, which is quadratic when a whole fleet says hello at once. */
class OneConnectionDriver extends SqliteDriver {
  readonly #connection: Connection
  #retrying: DatabaseConnection | null = null

  constructor(config: SqliteDialectConfig, connection: Connection) {
    super(config)
    this.#connection = connection
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { guard, mutex, file } = this.#connection
    guard.check()
    await mutex.acquire()
    const only = await super.acquireConnection()
    this.#retrying ??= new RetryingConnection(only, () => file.inTransaction)
    return this.#retrying
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection()
    this.#connection.mutex.release()
  }

  /** Immediate: a reader that turns writer could not wait for another process that writes, only fail. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const words = this.#connection.isGrouped ? 'savepoint member' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(words))
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#connection.isGrouped) return super.commitTransaction(connection)
    await connection.executeQuery(CompiledQuery.raw('release member'))
  }

  /** A full disk has rolled back already; a second rollback would hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#connection.file.inTransaction) return
    if (!this.#connection.isGrouped) return super.rollbackTransaction(connection)
    await connection.executeQuery(CompiledQuery.raw('rollback to member'))
    await connection.executeQuery(CompiledQuery.raw('release member'))
  }
}

interface Writes {
  /** Called before each statement that may write. */
  readonly note: () => void
  /** Another number after every write of this process or another. */
  readonly count: () => number
}

function countWrites(file: SqliteFile): Writes {
  // Of the writes of others only (sqlite.org/pragma.html#pragma_data_version).
  const readOthers = file.prepare<[], number>('pragma data_version').pluck()
  let own = 0
  let others: number | undefined
  return {
    note: () => {
      own += 1
    },
    count: () => {
      const version = readOthers.get()
      if (version !== others) own += 1
      others = version
      return own
    },
  }
}
