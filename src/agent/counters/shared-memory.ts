/**
 * Reads a cache's counters from the files in its working directory that it shares with whoever may read them. Nothing is
 * asked, no process is started, nothing is written. A cache that restarts in mid-read is read once more.
 */
import { join } from 'node:path'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'
import { findCounters, noPlaces } from './counter-places.js'
import { readPiece, readWord } from './memory-file.js'
import { parseMemoryIndex, type MemoryIndex } from './memory-index.js'

/** An index of 7.1.1 takes 2 kB, plus 150 bytes for each backend of each VCL. */
const indexLimitBytes = 8 << 20
const attempts = 5

export class SharedMemory {
  readonly #manager: ProcessMemory
  readonly #child: ProcessMemory

  constructor(workingDirectory: string, isWanted: CounterSelection) {
    this.#manager = new ProcessMemory(join(workingDirectory, '_.vsm_mgt'), isWanted)
    this.#child = new ProcessMemory(join(workingDirectory, '_.vsm_child'), isWanted)
  }

  /** Null while the cache does not run. Throws where the files may not be read, or are of a form that is not known. */
  read(): CounterReading | null {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        const reading = this.#readBoth()
        // Another life of one of them in between: what was read does not belong together.
        if (this.#manager.isSame() && this.#child.isSame()) return reading
      } catch (error) {
        if (!isGone(error)) throw error
      }
    }
    return null
  }

  #readBoth(): CounterReading | null {
    const manager = this.#manager.read()
    if (manager === null) return null
    const child = this.#child.read() ?? noChild
    return {
      atMs: performance.now(),
      lives: { manager: manager.life, child: child.life },
      isComplete: manager.isComplete && child.isComplete,
      values: new Map([...manager.values, ...child.values]),
    }
  }
}

interface ProcessReading {
  readonly life: string
  readonly isComplete: boolean
  readonly values: ReadonlyMap<string, bigint>
}

const noChild: ProcessReading = { life: '', isComplete: true, values: new Map() }

/** Of the manager or the child. */
class ProcessMemory {
  readonly #folder: string
  readonly #isWanted: CounterSelection
  /** The list that the places are of; null when they are of none. */
  #text: string | null = null
  #index: MemoryIndex | null = null
  #places = noPlaces
  /** Whether processes of the cache can be seen from here: not from another namespace of process ids. */
  #seesProcesses = false

  constructor(folder: string, isWanted: CounterSelection) {
    this.#folder = folder
    this.#isWanted = isWanted
  }

  /** Null while the process does not run. */
  read(): ProcessReading | null {
    this.#findCounters()
    if (this.#index === null || !this.#isAlive(this.#index.pid)) return null
    const values = new Map<string, bigint>()
    let { isComplete } = this.#places
    for (const { path, from, length, counters } of this.#places.pieces) {
      if (length === 0) continue
      const piece = readPiece(path, from, length)
      if (piece.length < length) isComplete = false
      else for (const { name, at } of counters) values.set(name, readWord(piece, at))
    }
    return { life: this.#index.life, isComplete, values }
  }

  /** Where the list says the same as before they are where they were. */
  #findCounters(): void {
    const text = this.#readIndex()
    if (text === this.#text && this.#places.isSettled) return
    const index = parseMemoryIndex(text)
    const earlier = index?.life === this.#index?.life ? this.#places : noPlaces
    this.#text = null
    this.#index = index
    if (index) this.#places = findCounters(this.#folder, index, this.#isWanted, earlier)
    this.#text = text
  }

  /** Whether the process is the one whose list was read: what was read belongs together. */
  isSame(): boolean {
    const { life } = this.#index ?? { life: '' }
    return this.#readIndex(Buffer.byteLength(life)) === life
  }

  /** Empty where there is none. */
  #readIndex(length?: number): string {
    try {
      const path = join(this.#folder, '_.index')
      return Buffer.from(readPiece(path, 0, length ?? indexLimitBytes)).toString('utf8')
    } catch (error) {
      if (isGone(error)) return ''
      throw error
    }
  }

  /** What a killed cache leaves behind is not a cache (varnish-cache, vsm.c vsm_running). */
  #isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0)
      this.#seesProcesses = true
      return true
    } catch (error) {
      const isOfAnother = (error as NodeJS.ErrnoException).code === 'EPERM'
      return isOfAnother || !this.#seesProcesses
    }
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
