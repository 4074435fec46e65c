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
  /** The newest good state and those before it, oldest first. */
  readonly goodStates: readonly GoodState[]
  /** Why the last write failed, in one line (a full disk); null when it succeeded. */
  readonly trouble: string | null
  /** Clears the trouble once as much data as failed before can be written. Never rejects. */
  tryAgain(): Promise<void>
  /** Resolves when the change is saved; rejects, and keeps the old record, when it cannot be (a full disk). */
  change(part: Partial<AgentRecord>): Promise<void>
  /** Null when the text is missing or damaged. */
  readSource(sha: string): Promise<string | null>
  writeSource(sha: string, text: string): Promise<void>
  /** Keeps the record as the newest good state and deletes texts that no good state needs. */
  keepGoodState(): Promise<void>
  /** Replaces the start file of the cache, if this cache has one; an unchanged text is not written again. Rejects as `render` does. */
  writeBootFile(render: () => Promise<string>): Promise<void>
  /** Keeps the text of an unmanaged VCL before it is unloaded; returns the file's name. */
  saveUnmanaged(name: string, source: Buffer): Promise<string>
  /** Keeps the child's panic message. */
  savePanic(text: string): Promise<void>
  /** The panic saved last; null when there is none. */
  readPanic(): Promise<string | null>
}
