/**
 * One row of an archive for all series of a cache: the input of every consolidation function, in single precision, column by
 * column. A series that was unknown in the row has a known time of 0.
 */

/** average, minimum, maximum, last and known time: each a run of single-precision numbers, one per series. */
const runs = 5
const bytesPerNumber = 4
/** The size of one series in one row. */
const bytesPerValue = runs * bytesPerNumber

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

export interface Row {
  readonly archive: number
  readonly endsAt: number
  readonly spanMs: number
  /** The time up to which values were observed: if before `endsAt`, the row is incomplete. */
  readonly knownUntil: number
  readonly columns: Columns
}

export interface Columns {
  readonly average: Float32Array
  readonly minimum: Float32Array
  readonly maximum: Float32Array
  readonly last: Float32Array
  /** Seconds of the row in which the series was known. */
  readonly knownSeconds: Float32Array
}

/** One series of one row. */
export interface Value {
  readonly average: number
  readonly minimum: number
  readonly maximum: number
  readonly last: number
  readonly knownSeconds: number
}

export function makeColumns(series: number): Columns {
  return viewColumns(new Float32Array(series * runs))
}

/** Little-endian on every host, so that a database can be moved between hosts. */
export function encodeColumns({ average }: Columns): Uint8Array {
  const bytes = new Uint8Array(average.buffer)
  return isLittleEndian ? bytes : swapped(bytes)
}

export function decodeColumns(bytes: Uint8Array): Columns {
  // Copied: bytes returned by a database may not be 4-byte aligned.
  const own = isLittleEndian ? bytes.slice() : swapped(bytes)
  return viewColumns(new Float32Array(own.buffer, own.byteOffset, own.byteLength / bytesPerNumber))
}

/** Reads a single series; undefined if it was unknown or is newer than the row. */
export function readValue(bytes: Uint8Array, column: number): Value | undefined {
  const series = bytes.byteLength / bytesPerValue
  if (column < 0 || column >= series) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = (run: number): number =>
    view.getFloat32((run * series + column) * bytesPerNumber, true)
  const knownSeconds = read(4)
  if (!(knownSeconds > 0)) return undefined
  return { average: read(0), minimum: read(1), maximum: read(2), last: read(3), knownSeconds }
}

function viewColumns(all: Float32Array): Columns {
  return new ViewedColumns(all)
}

/** Creates views on demand: the newest row of each cache and the rows of some seconds are kept in memory. */
class ViewedColumns implements Columns {
  readonly #all: Float32Array

  constructor(all: Float32Array) {
    this.#all = all
  }

  get average(): Float32Array {
    return this.#view(0)
  }

  get minimum(): Float32Array {
    return this.#view(1)
  }

  get maximum(): Float32Array {
    return this.#view(2)
  }

  get last(): Float32Array {
    return this.#view(3)
  }

  get knownSeconds(): Float32Array {
    return this.#view(4)
  }

  #view(run: number): Float32Array {
    const series = this.#all.length / runs
    return this.#all.subarray(run * series, (run + 1) * series)
  }
}

function swapped(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes)
  return new Uint8Array(copy.swap32())
}
