/** The program and the settings with which the live cache compiles now, if it answers. */
import type { Context } from '../../context.js'
import type { Engine } from '../engine/engine.js'
import { waitAtMost } from '../../runtime/pause.js'
import { readCompileWords, type CompileWords } from './compile-words.js'
import { findEngineProgram } from './engine-program.js'

export interface LiveSettings extends CompileWords {
  readonly program: string
}

/** If a cache is busy for longer, its last known settings are used. */
const answerLimitMs = 1_000

export class LiveCompiler {
  readonly #engine: Engine
  readonly #configured: string | null
  #settings: LiveSettings | null = null
  /** The connection on which they were read: another connection may lead to another cache. */
  #connection = 0
  #reading: Promise<LiveSettings | { readonly missing: string }> | null = null
  #reportedMissing = ''

  constructor(engine: Engine, configured: string | null) {
    this.#engine = engine
    this.#configured = configured
  }

  /** Rejects with errors of the connection to the cache if nothing was read on it before. */
  async find(context: Context): Promise<LiveSettings | { readonly missing: string }> {
    this.#reading ??= this.#read(context).finally(() => (this.#reading = null))
    const known = this.#connection === this.#engine.connections ? this.#settings : null
    if (known === null) return this.#reading
    const reading = this.#reading.catch(() => known)
    return waitAtMost(answerLimitMs, reading, () => known)
  }

  async #read(context: Context): Promise<LiveSettings | { readonly missing: string }> {
    const connection = this.#engine.connections
    const search = { engine: this.#engine, context, configured: this.#configured }
    const found = await findEngineProgram(search)
    if ('missing' in found) {
      const { missing } = found
      if (missing !== this.#reportedMissing)
        context.log.warn(
          { why: missing },
          'the program of the cache is not found: the cache itself compiles what is checked',
        )
      this.#reportedMissing = missing
      this.#settings = null
      return found
    }
    const settings = { program: found.path, ...(await readCompileWords(this.#engine, context)) }
    this.#settings = settings
    this.#connection = connection
    return settings
  }
}
