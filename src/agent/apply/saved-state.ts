/**
 * What an agent keeps: its record, the VCL texts by hash, the last good states, the start file for the cache.
 *
 * On disk, in the state dir: `state.json`, `sources/<sha>`, `history/<number>.json`, `boot.cli`, `foreign/`, `panics/`. Each file is
 * replaced whole, so a kill at any moment leaves the old one or the new one. Simulated agents keep theirs in memory.
 */
import type { AgentRecord } from '../agent-record.js'
import type { GoodState } from './good-states.js'

export interface SavedState {
  readonly record: AgentRecord
  /** The last good state and those before it, oldest first. */
  readonly goodStates: readonly GoodState[]
  /** Why the last write failed, in one line (a full disk); null when it did not. */
  readonly trouble: string | null
  /** Ends the trouble when as much can be written as could not. Never rejects. */
  tryAgain(): Promise<void>
  /** Resolves when the change is kept; rejects, and keeps the old record, when it cannot be (a full disk). */
  change(part: Partial<AgentRecord>): Promise<void>
  /** Null when the text is not here, or is damaged. */
  readSource(sha: string): Promise<string | null>
  writeSource(sha: string, text: string): Promise<void>
  /** Keeps the record as the newest of the good states and forgets texts that none of them needs. */
  keepGoodState(): Promise<void>
  /** Replaces the start file of the cache; a text that is there already is not written again. */
  writeBootFile(text: string): Promise<void>
  /** Keeps the text of an unmanaged VCL before it is unloaded; answers the file's name. */
  saveUnmanaged(name: string, source: Buffer): Promise<string>
  /** Keeps what the child said when it panicked. */
  savePanic(text: string): Promise<void>
  /** What was kept last; null when there was nothing. */
  readPanic(): Promise<string | null>
}
