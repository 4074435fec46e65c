/**
 * Where the archive's rows are: a file of SQLite, or tables in PostgreSQL. A row is all series of one cache in one span of
 * time; the oldest of an archive is overwritten in its place.
 */
import { FleetError } from '../../../errors.js'

export interface RowStore extends LayoutStore {
  /**
   * From now on this process writes the rows of these agents, and what an earlier one still wants to write is refused. Answers
   * what is saved of them.
   */
  claim(agentIds: readonly number[]): Promise<ReadonlyMap<number, SavedCache>>
  /** All or nothing. Rows of agents that another process has claimed since are left out. */
  write(rows: readonly StoredRow[], caches: readonly ChangedCache[]): Promise<void>
  /** Rows of the finest archive, in order of time. */
  readSteps(wanted: readonly WantedSteps[]): Promise<ReadonlyMap<number, readonly StoredRow[]>>
  /** In any order. */
  readRows(wanted: WantedRows): Promise<readonly StoredRow[]>
  /** The layout of each cache that has one. */
  readLayoutIds(agentIds: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** Of which agents there is something. */
  listAgents(): Promise<readonly number[]>
  remove(agentId: number): Promise<void>
  /** Removes its rows but those of the finest so many archives. */
  trim(agentId: number, archives: number): Promise<void>
  close(): Promise<void>
}

/** Which series rows have. */
export interface LayoutStore {
  readLayout(id: number): Promise<readonly string[]>
  /** The same names have the same id. */
  addLayout(names: readonly string[]): Promise<number>
  /** Removes layouts that were not in use since a time: neither named here nor of a cache when this was called. */
  keepLayouts(used: readonly number[], times: LayoutTimes): Promise<void>
}

export interface StoredRow {
  readonly agentId: number
  readonly archive: number
  readonly slot: number
  readonly endsAt: number
  readonly spanMs: number
  readonly knownUntil: number
  /** Names its series. */
  readonly layout: number
  /** src/coordinator/statistics/archive/row.ts. */
  readonly bytes: Uint8Array
}

export interface SavedCache {
  readonly layout: number
  readonly checkpoint: Uint8Array
}

export interface ChangedCache extends SavedCache {
  readonly agentId: number
}

export interface LayoutTimes {
  readonly nowMs: number
  readonly sinceMs: number
}

interface WantedSteps {
  readonly agentId: number
  /** Those that end later. */
  readonly after: number
}

interface WantedRows {
  /** Some: all their rows are in memory at once. */
  readonly agentIds: readonly number[]
  readonly archive: number
  /** First and last, both included. */
  readonly slots: readonly (readonly [from: number, to: number])[]
  /** Rows that end in this range, both included. */
  readonly startMs: number
  readonly endMs: number
}

export function unavailable(error: unknown, retryAfterSeconds: number): FleetError {
  const reason = error instanceof Error ? error.message : String(error)
  return new FleetError('unavailable', 'store', `the statistics cannot be used: ${reason}`, {
    retryAfterSeconds,
    cause: error,
  })
}
