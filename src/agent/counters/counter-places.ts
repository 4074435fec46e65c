/**
 * Finds the wanted counters in the cache's files (varnish-cache, vsc_priv.h, the same from 6.0 to 8.0).
 *
 * Each segment begins with a head of three words: ready (0 not yet, 1, or 2 for those of a cold VCL), the offset of its body,
 * and the id of its description. A description's body is JSON with `elem.<name>`: its type, and its byte offset in the body.
 */
import { join } from 'node:path'
import type { CounterSelection } from './counter-selection.js'
import { readPiece, readWord } from './memory-file.js'
import type { MemoryIndex, MemorySegment } from './memory-index.js'

/** The part of one file that is read in one piece. */
interface CounterPiece {
  readonly path: string
  /** The file's entries in the index: while they are unchanged, so are the places. */
  readonly listed: string
  readonly from: number
  readonly length: number
  /** Empty when none of its counters is wanted. */
  readonly counters: readonly CounterPlace[]
}

interface CounterPlace {
  readonly name: string
  /** Byte offset in the piece. */
  readonly at: number
}

interface CounterPlaces {
  readonly pieces: readonly CounterPiece[]
  /** False when there is more than is read, or a segment is not ready yet. */
  readonly isComplete: boolean
  /** False when a segment is not ready yet: the search must be repeated. */
  readonly isSettled: boolean
}

export const noPlaces: CounterPlaces = { pieces: [], isComplete: true, isSettled: false }

type Fields = readonly CounterPlace[]

/** Limits input from the cache: the largest description of 7.1.1 has 35 kB, a backend's counters take 184 bytes. */
const pieceLimitBytes = 4 << 20
/** Keeps a reading within a few milliseconds: one file per VCL with backends, five counters per backend. */
const fileLimit = 500
const placeLimit = 5_000

/**
 * `earlier`: the previous result, reused for files whose index entries are unchanged. Throws the errors of reading a file;
 * ENOENT when a segment was removed meanwhile.
 */
export function findCounters(
  folder: string,
  { segments }: MemoryIndex,
  isWanted: CounterSelection,
  earlier: CounterPlaces,
): CounterPlaces {
  const known = new Map(earlier.pieces.map((piece) => [piece.path, piece]))
  const files = groupByFile(folder, segments)
  let descriptions: ReadonlyMap<bigint, Fields> | null = null
  const pieces: CounterPiece[] = []
  let isSettled = true
  let left = placeLimit
  for (const [path, own] of [...files].slice(0, fileLimit)) {
    const listed = own.map(({ offset, length, ident }) => `${offset} ${length} ${ident}`).join('\n')
    let piece = known.get(path)
    if (piece?.listed !== listed) {
      descriptions ??= readDescriptions(folder, segments)
      const found = findInFile(path, own, descriptions)?.filter(({ name }) => isWanted(name))
      piece = found && narrow({ path, listed }, found)
    }
    if (piece === undefined) isSettled = false
    else if ((left -= piece.counters.length) < 0) break
    else pieces.push(piece)
  }
  return { pieces, isComplete: isSettled && left >= 0 && files.size <= fileLimit, isSettled }
}

function groupByFile(
  folder: string,
  segments: readonly MemorySegment[],
): ReadonlyMap<string, readonly MemorySegment[]> {
  const files = new Map<string, MemorySegment[]>()
  for (const segment of segments) {
    if (segment.kind !== 'Stat') continue
    const path = join(folder, segment.file)
    const own = files.get(path)
    if (own) own.push(segment)
    else files.set(path, [segment])
  }
  return files
}

function readDescriptions(
  folder: string,
  segments: readonly MemorySegment[],
): ReadonlyMap<bigint, Fields> {
  const descriptions = new Map<bigint, Fields>()
  for (const segment of segments)
    if (segment.kind === 'StatDoc') addDescription(descriptions, folder, segment)
  return descriptions
}

function addDescription(
  descriptions: Map<bigint, Fields>,
  folder: string,
  { file, offset, length }: MemorySegment,
): void {
  if (length > pieceLimitBytes) return
  const piece = readPiece(join(folder, file), offset, length)
  const { isReady, bodyAt, description } = readHead(piece, 0)
  if (!isReady) return
  const [text = ''] = Buffer.from(piece.subarray(bodyAt)).toString('utf8').split('\0')
  descriptions.set(description, readFields(text))
}

function readHead(piece: Uint8Array, at: number) {
  return {
    // The upper half of the first word belongs to something else.
    isReady: (readWord(piece, at) & 0xffff_ffffn) !== 0n,
    bodyAt: at + Number(readWord(piece, at + 8)),
    description: readWord(piece, at + 16),
  }
}

/** Throws if the text is not a description. Skips bitmaps (the history of a probe), which are not counters. */
function readFields(text: string): Fields {
  const { elem } = JSON.parse(text) as { elem: Record<string, { type?: unknown; index?: unknown }> } // checked below
  return Object.entries(elem).flatMap(([name, { type, index }]) => {
    const at = Number(index)
    return type === 'bitmap' || !Number.isSafeInteger(at) ? [] : [{ name, at }]
  })
}

/** Places as byte offsets in the file; undefined when some are not known yet. */
function findInFile(
  path: string,
  segments: readonly MemorySegment[],
  descriptions: ReadonlyMap<bigint, Fields>,
): readonly CounterPlace[] | undefined {
  const from = Math.min(...segments.map(({ offset }) => offset))
  const length = Math.max(...segments.map((segment) => segment.offset + segment.length)) - from
  if (length > pieceLimitBytes) return undefined
  const piece = readPiece(path, from, length)
  const places: CounterPlace[] = []
  for (const { offset, ident } of segments) {
    const { isReady, bodyAt, description } = readHead(piece, offset - from)
    const fields = isReady ? descriptions.get(description) : undefined
    if (fields === undefined) return undefined
    for (const { name, at } of fields)
      places.push({ name: `${ident}.${name}`, at: from + bodyAt + at })
  }
  return places
}

/** Keeps only the bytes that contain them. */
function narrow(
  file: Pick<CounterPiece, 'path' | 'listed'>,
  counters: readonly CounterPlace[],
): CounterPiece {
  if (counters.length === 0) return { ...file, from: 0, length: 0, counters }
  const from = Math.min(...counters.map(({ at }) => at))
  const last = Math.max(...counters.map(({ at }) => at))
  const length = last + 8 - from
  return {
    ...file,
    from,
    length,
    counters: counters.map(({ name, at }) => ({ name, at: at - from })),
  }
}
