/** Copies all rows of a store to an empty database, in one transaction, and compares them row by row before it ends. */
import { isDeepStrictEqual } from 'node:util'
import { CompiledQuery, sql, type Transaction } from 'kysely'
import { FleetError } from '../../errors.js'
import type { Database } from './database.js'
import { createTables, createTriggers, tableNames, type Tables } from './schema.js'
import type { Store } from './store.js'

type TableName = keyof Tables
type Row = Readonly<Record<string, unknown>>
type Source = Transaction<Tables>
type Target = Transaction<Tables>

/** Even for the table with the most columns below PostgreSQL's limit of 65,535 values per statement. */
const rowsAtOnce = 200

export interface CopiedTable {
  readonly name: string
  readonly rows: number
}

/**
 * Copies from SQLite to PostgreSQL, including the id sequences. Nothing else may write to the source. Throws FleetError
 * 'conflict' for a target that has tables; a failed copy leaves nothing behind.
 */
export async function copyStore(source: Store, target: Database): Promise<readonly CopiedTable[]> {
  return source.transaction((from) =>
    target.migrate(async (to) => {
      await requireEmpty(to)
      await execute(to, target.dialect.definitions)
      await execute(to, createTables(target.dialect))
      const copied: CopiedTable[] = []
      for (const name of ['migrations', ...tableNames] as TableName[])
        copied.push({ name, rows: await copyTable(from, to, name) })
      // Last: triggers would record every row as a change.
      await execute(to, createTriggers(target.dialect))
      await copySequences(from, to)
      return copied
    }),
  )
}

async function requireEmpty(to: Target): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() order by table_name limit 3`.execute(to)
  if (rows.length > 0)
    throw new FleetError(
      'conflict',
      'store',
      `the target is not empty, it has the table ${rows.map(({ name }) => name).join(', ')}. Use an empty database; nothing was copied`,
    )
}

async function copyTable(from: Source, to: Target, name: TableName): Promise<number> {
  const keys = await readKeys(from, name)
  let count = 0
  for (let after = 0; ;) {
    const { rows } = await sql<Row>`
      select rowid as "@rowid", * from ${sql.table(name)}
      where rowid > ${after} order by rowid limit ${rowsAtOnce}`.execute(from)
    if (rows.length === 0) break
    after = Number(rows.at(-1)?.['@rowid'])
    const bare = rows.map(withoutRowid)
    await to.insertInto(name).values(bare).execute()
    if (keys.length > 0) await compareRows(to, { name, keys, rows: bare })
    count += rows.length
  }
  if (keys.length === 0) await compareTables(from, to, name)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(name)}`.execute(to)
  if (rows[0]?.count !== count) throw differs(name, `${count} rows`, `${rows[0]?.count} rows`)
  return count
}

function withoutRowid(row: Row): Row {
  const { '@rowid': _, ...rest } = row
  return rest
}

async function readKeys(from: Source, name: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from pragma_table_info(${name}) where pk > 0 order by pk`.execute(from)
  return rows.map((row) => row.name)
}

/** For the few tables without a key, which are short: compares them unordered, including duplicates. */
async function compareTables(from: Source, to: Target, name: TableName): Promise<void> {
  const [there, here] = await Promise.all(
    [from, to].map(async (queries) => {
      const { rows } = await sql<Row>`select * from ${sql.table(name)}`.execute(queries)
      return rows.map((row) => JSON.stringify(Object.entries(row).toSorted())).toSorted()
    }),
  )
  if (!isDeepStrictEqual(there, here)) throw differs(name, 'its rows', 'others')
}

interface Batch {
  readonly name: TableName
  readonly keys: readonly string[]
  readonly rows: readonly Row[]
}

async function compareRows(to: Target, { name, keys, rows }: Batch): Promise<void> {
  const columns = sql.join(keys.map((key) => sql.ref(key)))
  const tuples = sql.join(rows.map((row) => sql`(${sql.join(keys.map((key) => row[key]))})`))
  const { rows: found } = await sql<Row>`
    select * from ${sql.table(name)} where (${columns}) in (${tuples})`.execute(to)
  const keyOf = (row: Row): string => JSON.stringify(keys.map((key) => row[key]))
  const byKey = new Map(found.map((row) => [keyOf(row), row]))
  for (const row of rows)
    if (!isDeepStrictEqual({ ...byKey.get(keyOf(row)) }, { ...row }))
      throw differs(name, `the row ${keyOf(row).slice(0, 100)}`, 'another')
}

function differs(name: string, wanted: string, found: string): Error {
  return new Error(`the copy of ${name} differs: ${wanted} became ${found}; nothing was kept`)
}

/** Ids are never reused, not even those of deleted rows. */
async function copySequences(from: Source, to: Target): Promise<void> {
  const { rows } = await sql<{ name: string; seq: number }>`
    select name, seq from sqlite_sequence where seq > 0`.execute(from)
  for (const { name, seq } of rows)
    await sql`select setval(pg_get_serial_sequence(${`"${name}"`}, 'id'), ${seq})`.execute(to)
}

async function execute(queries: Target, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await queries.executeQuery(CompiledQuery.raw(statement))
}
