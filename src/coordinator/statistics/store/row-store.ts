/**
 * The storage of the archive's rows: a SQLite file or PostgreSQL tables. A row holds all series of one cache for one span of
 * time; a new row overwrites the oldest of its archive in place.
 */
import { FleetError } from '../../../errors.js'

export interface RowStore extends LayoutStore {
  /**
   * Claims the rows of these agents for this process; later writes of the previous owner are refused. Returns the saved state
   * of these agents.
   */
  claim(agentIds: readonly number[]): Promise<ReadonlyMap<number, SavedCache>>
  /** Atomic. Rows of agents that another process has claimed in the meantime are skipped. */
  write(rows: readonly StoredRow[], caches: readonly ChangedCache[]): Promise<void>
  /** Rows of the finest archive, in order of time. */
  readSteps(wanted: readonly WantedSteps[]): Promise<ReadonlyMap<number, readonly StoredRow[]>>
  /** In any order. */
  readRows(wanted: WantedRows): Promise<readonly StoredRow[]>
  /** The layout of each cache that has one. */
  readLayoutIds(agentIds: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** The agents with stored data. */
  listAgents(): Promise<readonly number[]>
  remove(agentId: number): Promise<void>
  /** Removes the agent's rows except those of the finest `archives` archives. */
  trim(agentId: number, archives: number): Promise<void>
  close(): Promise<void>
}

/** Stores which series the rows contain. */
export interface LayoutStore {
  readLayout(id: number): Promise<readonly string[]>
  /** Equal lists of names get the same id. */
  addLayout(names: readonly string[]): Promise<number>
  /** Removes layouts not in use since `sinceMs`. In use: listed in `used` or referenced by a cache at the time of a call. */
  keepLayouts(used: readonly number[], times: LayoutTimes): Promise<void>
}

export interface StoredRow {
  readonly agentId: number
  readonly archive: number
  readonly slot: number
  readonly endsAt: number
  readonly spanMs: number
  readonly knownUntil: number
  /** The id of the layout that names its series. */
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
  /** Only steps that end after this time. */
  readonly after: number
}

interface WantedRows {
  /** Pass a few at a time: all their rows are in memory at once. */
  readonly agentIds: readonly number[]
  readonly archive: number
  /** First and last, both inclusive. */
  readonly slots: readonly (readonly [from: number, to: number])[]
  /** Rows that end in this range, both inclusive. */
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
