/** The saved state of an agent in its state dir: atomic, durable, limited in size. */
import { chmod, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { emptyRecord, parseRecord, type AgentRecord } from '../agent-record.js'
import {
  limitFiles,
  makePrivateFolder,
  readIfThere,
  writeDurably,
} from '../../runtime/durable-file.js'
import { saveUnmanagedSource } from './unmanaged-sources.js'
import { readGoodStates, type GoodState } from './good-states.js'
import { readLastPanic, savePanicText } from '../host/panic-files.js'
import type { SavedState } from './saved-state.js'
import { digestSource } from './sources.js'

/** The newest good state and the 20 before it (docs/behaviour.md, Saved state). */
const historyLimit = 21
/** Enough to diagnose a failure. */
const brokenFilesLimit = 5
const historyFile = /^\d{9}\.json$/

/** Creates the folders and reads the saved state; a broken record is set aside and replaced by the newest good one. */
export async function openStateOnDisk(folder: string, log: Logger): Promise<SavedState> {
  for (const part of [
    folder,
    ...['sources', 'history', 'foreign', 'panics'].map((name) => join(folder, name)),
  ])
    await makePrivateFolder(part)
  await chmod(folder, 0o700) // another user may have created it
  const good = await readGoodStates(join(folder, 'history'))
  const record = await readRecord(folder, good.at(-1)?.record, log)
  return new StateOnDisk(folder, record, good)
}

class StateOnDisk implements SavedState {
  readonly #folder: string
  #record: AgentRecord
  /** Oldest first. */
  #good: GoodState[]
  #bootFile: string | null = null
  #trouble: string | null = null
  #failedBytes = 0
  /** Writes run one after the other, so that an earlier change never overwrites a later one. */
  #tail: Promise<unknown> = Promise.resolve()

  constructor(folder: string, record: AgentRecord, good: GoodState[]) {
    this.#folder = folder
    this.#record = record
    this.#good = good
  }

  get record(): AgentRecord {
    return this.#record
  }

  get goodStates(): readonly GoodState[] {
    return this.#good
  }

  get trouble(): string | null {
    return this.#trouble
  }

  async tryAgain(): Promise<void> {
    // A probe of the failed size: something smaller might still fit.
    const probe = Buffer.alloc(this.#failedBytes)
    const path = join(this.#folder, 'probe')
    await this.#serialized(async () => {
      await this.#write(path, probe)
      await rm(path, { force: true })
      this.#trouble = null
    }).catch(() => undefined) // the error is in `trouble`
  }

  change(part: Partial<AgentRecord>): Promise<void> {
    return this.#serialized(async () => {
      const next = { ...this.#record, ...part }
      await this.#write(join(this.#folder, 'state.json'), `${JSON.stringify(next)}\n`)
      this.#record = next
    })
  }

  async readSource(sha: string): Promise<string | null> {
    const text = await readIfThere(this.#sourceFile(sha))
    return text !== null && digestSource(text) === sha ? text : null
  }

  writeSource(sha: string, text: string): Promise<void> {
    return this.#serialized(() => this.#write(this.#sourceFile(sha), text))
  }

  keepGoodState(): Promise<void> {
    return this.#serialized(async () => {
      const last = this.#good.at(-1)
      if (last && JSON.stringify(last.record.desired) === JSON.stringify(this.#record.desired))
        return
      const number = (last?.number ?? 0) + 1
      const file = `${String(number).padStart(9, '0')}.json`
      const folder = join(this.#folder, 'history')
      await this.#write(join(folder, file), `${JSON.stringify(this.#record)}\n`)
      const state = { number, at: Date.now(), record: this.#record }
      this.#good = [...this.#good, state].slice(-historyLimit)
      await limitFiles(folder, historyFile, historyLimit)
      await this.#forgetSources()
    })
  }

  async writeBootFile(render: () => Promise<string>): Promise<void> {
    const text = await render()
    return this.#serialized(async () => {
      const path = join(this.#folder, 'boot.cli')
      this.#bootFile ??= await readIfThere(path)
      if (this.#bootFile === text) return
      await this.#write(path, text)
      this.#bootFile = text
    })
  }

  saveUnmanaged(name: string, source: Buffer): Promise<string> {
    return this.#serialized(() => saveUnmanagedSource(join(this.#folder, 'foreign'), name, source))
  }

  savePanic(text: string): Promise<void> {
    return this.#serialized(() => savePanicText(join(this.#folder, 'panics'), text))
  }

  readPanic(): Promise<string | null> {
    return readLastPanic(join(this.#folder, 'panics'))
  }

  async #forgetSources(): Promise<void> {
    const records = [this.#record, ...this.#good.map((good) => good.record)]
    const needed = new Set(records.flatMap((one) => one.desired?.load.map(({ sha }) => sha) ?? []))
    const folder = join(this.#folder, 'sources')
    for (const file of await readdir(folder))
      if (!needed.has(file)) await rm(join(folder, file), { force: true })
  }

  #sourceFile(sha: string): string {
    // The digest becomes a file name: nothing but a SHA-256 is allowed here.
    if (!/^[0-9a-f]{64}$/.test(sha)) throw new Error(`${JSON.stringify(sha)} is not a SHA-256`)
    return join(this.#folder, 'sources', sha)
  }

  async #write(path: string, content: string | Buffer): Promise<void> {
    try {
      await writeDurably(path, content)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#trouble = `the state dir ${this.#folder} cannot be written: ${reason}`
      this.#failedBytes = Buffer.byteLength(content)
      throw error
    }
  }

  #serialized<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#tail.then(work)
    this.#tail = mine.catch(() => undefined) // its own caller gets the error
    return mine
  }
}

async function readRecord(
  folder: string,
  lastGood: AgentRecord | undefined,
  log: Logger,
): Promise<AgentRecord> {
  const path = join(folder, 'state.json')
  const text = await readIfThere(path)
  if (text === null) return emptyRecord
  const record = parseRecord(text)
  if (record) return record
  const aside = `state.json.broken-${new Date().toISOString().replaceAll(':', '-')}`
  await rename(path, join(folder, aside))
  await limitFiles(folder, /^state\.json\.broken-/, brokenFilesLimit)
  log.error(
    { setAside: aside, instead: lastGood ? 'the last good state' : 'an empty state' },
    'state.json could not be read and was set aside',
  )
  return lastGood ?? emptyRecord
}
