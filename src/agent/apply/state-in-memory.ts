/** The saved state of a simulated agent: lives as long as its process (docs/behaviour.md, Engine modes); all share the texts. */
import { emptyRecord, type AgentRecord } from '../agent-record.js'
import type { GoodState } from './good-states.js'
import type { SavedState } from './saved-state.js'

/** Texts by hash for all simulated agents of a process: a deploy to a thousand agents holds one text. */
export type SharedSources = Map<string, string>

/** At most 2 MiB each; an evicted text is fetched again when needed. */
const sharedSourcesLimit = 32

export function createStateInMemory(sources: SharedSources): SavedState {
  return new StateInMemory(sources)
}

class StateInMemory implements SavedState {
  #record: AgentRecord = emptyRecord
  readonly #sources: SharedSources
  #panic: string | null = null
  /** Empty: simulated caches are not rolled back on their host. */
  readonly goodStates: readonly GoodState[] = []
  readonly trouble = null

  constructor(sources: SharedSources) {
    this.#sources = sources
  }

  get record(): AgentRecord {
    return this.#record
  }

  change(part: Partial<AgentRecord>): Promise<void> {
    this.#record = { ...this.#record, ...part }
    return Promise.resolve()
  }

  tryAgain(): Promise<void> {
    return Promise.resolve()
  }

  readSource(sha: string): Promise<string | null> {
    return Promise.resolve(this.#sources.get(sha) ?? null)
  }

  writeSource(sha: string, text: string): Promise<void> {
    this.#sources.set(sha, text)
    for (const oldest of this.#sources.keys()) {
      if (this.#sources.size <= sharedSourcesLimit) break
      this.#sources.delete(oldest)
    }
    return Promise.resolve()
  }

  keepGoodState(): Promise<void> {
    return Promise.resolve()
  }

  writeBootFile(): Promise<void> {
    return Promise.resolve()
  }

  saveUnmanaged(name: string): Promise<string> {
    return Promise.resolve(name) // a simulated cache has no clients: nothing is lost with it
  }

  savePanic(text: string): Promise<void> {
    this.#panic = text
    return Promise.resolve()
  }

  readPanic(): Promise<string | null> {
    return Promise.resolve(this.#panic)
  }
}
