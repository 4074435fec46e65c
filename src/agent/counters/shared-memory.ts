/**
 * Reads a cache's counters from the shared files in its working directory. It sends no command, starts no process and writes
 * nothing. If a cache restarts during a reading, the reading is repeated.
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

  /** Null while the cache is not running. Throws when the files are not readable or have an unknown format. */
  read(): CounterReading | null {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        const reading = this.#readBoth()
        // If one of the processes restarted in between, the values do not belong together.
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

/** Shared memory of the manager or the child. */
class ProcessMemory {
  readonly #folder: string
  readonly #isWanted: CounterSelection
  /** The index that the places were derived from; null if none. */
  #text: string | null = null
  #index: MemoryIndex | null = null
  #places = noPlaces
  /** True when the cache's processes are visible here: not from another PID namespace. */
  #seesProcesses = false

  constructor(folder: string, isWanted: CounterSelection) {
    this.#folder = folder
    this.#isWanted = isWanted
  }

  /** Null while the process is not running. */
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

  /** Reuses the places while the index is unchanged. */
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

  /** True when the process is still the one whose index was read, so that the values belong together. */
  isSame(): boolean {
    const { life } = this.#index ?? { life: '' }
    return this.#readIndex(Buffer.byteLength(life)) === life
  }

  /** Empty if there is no index. */
  #readIndex(length?: number): string {
    try {
      const path = join(this.#folder, '_.index')
      return Buffer.from(readPiece(path, 0, length ?? indexLimitBytes)).toString('utf8')
    } catch (error) {
      if (isGone(error)) return ''
      throw error
    }
  }

  /** False for files that a killed cache left behind (varnish-cache, vsm.c vsm_running). */
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
