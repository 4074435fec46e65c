/** The archive's rows in a separate SQLite file: it has no other writer, and the store's commits do not wait for it. */
import { chmodSync, closeSync, openSync } from 'node:fs'
import { BetterSqlite3, type SqliteFile } from '../../store/sqlite-library.js'
import { maxArchives } from '../archive/archives.js'
import { decodeNames, encodeNames } from './layout-names.js'
import {
  unavailable,
  type ChangedCache,
  type LayoutStore,
  type LayoutTimes,
  type RowStore,
  type SavedCache,
  type StoredRow,
} from './row-store.js'

/** A row's key consists of agent, archive and slot, so that a series is read from adjacent pages. */
const maxSlots = 8192

/** Pages that are rewritten often are moved from the WAL to the file only occasionally. */
const checkpointPages = 16_384
/** The inner pages of the table; the pages of rows are read from the cache of the kernel. */
const cacheKibibytes = 8_192
const retryAfterSeconds = 10

const tables = `
  create table if not exists rows (id integer primary key, "endsAt" integer not null, "spanMs" integer not null,
    "knownUntil" integer not null, layout integer not null, bytes blob not null) strict;
  create table if not exists caches ("agentId" integer primary key, layout integer not null, checkpoint blob not null) strict;
  create table if not exists layouts (id integer primary key, digest text not null unique, names text not null) strict;
  create table if not exists "layoutUses" (layout integer primary key, "usedAt" integer not null) strict;`

interface RowOfTable extends Omit<StoredRow, 'agentId' | 'archive' | 'slot'> {
  readonly id: number
}

/** `:memory:` is discarded at close. Throws FleetError 'unavailable' if the file cannot be opened. */
export function openSqliteRows(path: string): RowStore {
  const file = openFile(path)
  const insertRow = file.prepare('insert or replace into rows values (?, ?, ?, ?, ?, ?)')
  const saveCache = file.prepare('insert or replace into caches values (?, ?, ?)')
  const readCache = file.prepare<[number], SavedCache>(
    'select layout, checkpoint from caches where "agentId" = ?',
  )
  const readRange = file.prepare<[number, number, number, number], RowOfTable>(
    'select * from rows where id between ? and ? and "endsAt" between ? and ?',
  )
  const writeAll = file.transaction(
    (rows: readonly StoredRow[], caches: readonly ChangedCache[]) => {
      for (const { agentId, archive, slot, endsAt, spanMs, knownUntil, layout, bytes } of rows)
        insertRow.run(keyOf(agentId, archive, slot), endsAt, spanMs, knownUntil, layout, bytes)
      for (const { agentId, layout, checkpoint } of caches)
        saveCache.run(agentId, layout, checkpoint)
    },
  )
  const removeFrom = (agentId: number, archive: number): void => {
    const [first, next] = [keyOf(agentId, archive, 0), keyOf(agentId + 1, 0, 0)]
    file.prepare('delete from rows where id >= ? and id < ?').run(first, next)
  }
  const removeAll = file.transaction((agentId: number) => {
    removeFrom(agentId, 0)
    file.prepare('delete from caches where "agentId" = ?').run(agentId)
  })
  return {
    claim: translated((agentIds) => readCaches(agentIds)),
    write: translated((rows, caches) => {
      writeAll.immediate(rows, caches)
    }),
    readSteps: translated((wanted) => {
      const steps = wanted.map(({ agentId, after }) => {
        const first = keyOf(agentId, 0, 0)
        const found = readRange.all(first, first + maxSlots - 1, after + 1, Number.MAX_SAFE_INTEGER)
        return [agentId, found.map(fromRow).sort((a, b) => a.endsAt - b.endsAt)] as const
      })
      return new Map(steps)
    }),
    readRows: translated(({ agentIds, archive, slots, startMs, endMs }) =>
      agentIds.flatMap((agentId) =>
        slots.flatMap(([from, to]) =>
          readRange
            .all(keyOf(agentId, archive, from), keyOf(agentId, archive, to), startMs, endMs)
            .map(fromRow),
        ),
      ),
    ),
    readLayoutIds: translated(
      (agentIds) => new Map([...readCaches(agentIds)].map(([id, { layout }]) => [id, layout])),
    ),
    ...openLayouts(file),
    listAgents: translated(() =>
      file.prepare<[], number>('select "agentId" from caches order by 1').pluck().all(),
    ),
    remove: translated((agentId) => {
      removeAll.immediate(agentId)
    }),
    trim: translated(removeFrom),
    close: () => {
      file.close()
      return Promise.resolve()
    },
  }

  function readCaches(agentIds: readonly number[]): Map<number, SavedCache> {
    const found = new Map<number, SavedCache>()
    for (const agentId of agentIds) {
      const saved = readCache.get(agentId)
      if (saved) found.set(agentId, saved)
    }
    return found
  }
}

function openLayouts(file: SqliteFile): LayoutStore {
  const addLayout = file.transaction((names: readonly string[]): number => {
    const { text, digest } = encodeNames(names)
    file.prepare('insert or ignore into layouts (digest, names) values (?, ?)').run(digest, text)
    const find = file.prepare<[string], number>('select id from layouts where digest = ?').pluck()
    const id = find.get(digest) ?? 0 // it exists now
    // An existing layout is in use again.
    file.prepare('delete from "layoutUses" where layout = ?').run(id)
    return id
  })
  const keepLayouts = file.transaction((used: readonly number[], times: LayoutTimes): void => {
    const { nowMs, sinceMs } = times
    const note = file.prepare(
      'insert or replace into "layoutUses" select id, ? from layouts where id = ?',
    )
    for (const id of used) note.run(nowMs, id)
    file
      .prepare(
        `insert or replace into "layoutUses" select id, ? from layouts
         where id in (select layout from caches) or id not in (select layout from "layoutUses")`,
      )
      .run(nowMs)
    file
      .prepare(
        'delete from layouts where id in (select layout from "layoutUses" where "usedAt" < ?)',
      )
      .run(sinceMs)
    file.prepare('delete from "layoutUses" where "usedAt" < ?').run(sinceMs)
  })
  return {
    readLayout: translated((id) => {
      const find = file.prepare<[number], string>('select names from layouts where id = ?').pluck()
      return decodeNames(find.get(id))
    }),
    addLayout: translated((names) => addLayout.immediate(names)),
    keepLayouts: translated((used, times) => {
      keepLayouts.immediate(used, times)
    }),
  }
}

function openFile(path: string): SqliteFile {
  try {
    // Created before SQLite would create it with the umask's mode.
    if (path !== ':memory:') {
      closeSync(openSync(path, 'a', 0o600))
      chmodSync(path, 0o600)
    }
    const file = new BetterSqlite3(path, { timeout: 5000 })
    file.pragma('journal_mode = WAL')
    // One commit every few seconds, in a separate thread: it can afford to wait for the disk.
    file.pragma('synchronous = FULL')
    file.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    file.pragma(`cache_size = -${cacheKibibytes}`)
    file.exec(tables)
    return file
  } catch (error) {
    throw unavailable(error, retryAfterSeconds)
  }
}

function keyOf(agentId: number, archive: number, slot: number): number {
  return (agentId * maxArchives + archive) * maxSlots + slot
}

function fromRow({ id, ...row }: RowOfTable): StoredRow {
  const slot = id % maxSlots
  const ofAgent = Math.floor(id / maxSlots)
  return {
    ...row,
    slot,
    archive: ofAgent % maxArchives,
    agentId: Math.floor(ofAgent / maxArchives),
  }
}

function translated<Arguments extends readonly unknown[], Result>(
  work: (...given: Arguments) => Result,
): (...given: Arguments) => Promise<Result> {
  return (...given) => {
    try {
      return Promise.resolve(work(...given))
    } catch (error) {
      return Promise.reject(unavailable(error, retryAfterSeconds))
    }
  }
}
