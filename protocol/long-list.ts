/** Parses long lists in pieces, so that other work of the process continues in between. */

import { setImmediate as otherWork } from 'node:timers/promises'
import { expectOk, garbledAnswer, parseJson, readJsonAnswer, readLimitBytes } from './command.js'
import type { Reply } from './frame.js'

/** A piece ends at the first boundary after this many bytes. */
const pieceBytes = 64 * 1024
/** Text is slower to parse than JSON. */
const lineLimitBytes = readLimitBytes / 4

const lineFeed = 0x0a
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** For JSON lists: parses the members after the reply's head. `textOf`: converts pieces that are not valid JSON as sent. */
export function readJsonList<Row>(
  reply: Reply,
  name: string,
  readRow: (item: unknown) => Row,
  textOf = (piece: Buffer) => piece.toString('utf8'),
): readonly Row[] | Promise<readonly Row[]> {
  expectOk(reply, name)
  return readList(reply.body, splitMembers, (piece, isFirst) => {
    const text = textOf(piece)
    const rows = isFirst ? readJsonAnswer(text, name).payload : parseJson(text, name)
    return Array.isArray(rows) ? rows.map(readRow) : []
  })
}

/** For text lists: parses whole lines; `readLines` is told whether the piece includes the heading. */
export function readTextList<Row>(
  reply: Reply,
  name: string,
  readLines: (text: string, isFirst: boolean) => readonly Row[],
): readonly Row[] | Promise<readonly Row[]> {
  expectOk(reply, name)
  return readList(reply.body, splitLines, (piece, isFirst) =>
    readLines(piece.toString('utf8'), isFirst),
  )
}

/** Short lists are parsed at once. */
function readList<Row>(
  body: Buffer,
  split: (body: Buffer) => Iterable<Buffer>,
  read: (piece: Buffer, isFirst: boolean) => readonly Row[],
): readonly Row[] | Promise<readonly Row[]> {
  return body.length <= pieceBytes ? read(body, true) : readPieces(split(body), read)
}

async function readPieces<Row>(
  pieces: Iterable<Buffer>,
  read: (piece: Buffer, isFirst: boolean) => readonly Row[],
): Promise<readonly Row[]> {
  const rows: Row[] = []
  let isFirst = true
  for (const piece of pieces) {
    for (const row of read(piece, isFirst)) rows.push(row)
    isFirst = false
    await otherWork()
  }
  return rows
}

/** Yields pieces of whole lines; none after the last line feed if a piece ends there. */
function* splitLines(body: Buffer): Generator<Buffer, void, void> {
  for (let from = 0; from < body.length;) {
    const found = body.indexOf(lineFeed, from + pieceBytes)
    const end = found < 0 ? body.length : found
    yield requireShort(body, from, end, lineLimitBytes)
    from = end + 1
  }
}

/** Yields some members of the outermost list at a time, each piece as a list. */
function* splitMembers(body: Buffer): Generator<Buffer, void, void> {
  let depth = 0
  let from = 0
  let start = ''
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (byte === quote) at = endOfString(body, at + 1, from + readLimitBytes)
    else if (opening.has(byte)) depth += 1
    else if (closing.has(byte)) depth -= 1
    else if (byte === comma && depth === 1 && at - from >= pieceBytes) {
      yield Buffer.concat([Buffer.from(start), body.subarray(from, at), Buffer.from(']')])
      ;[start, from] = ['[', at + 1]
    }
    if (at - from > readLimitBytes) requireShort(body, from, at, readLimitBytes)
  }
  yield Buffer.concat([Buffer.from(start), body.subarray(from)])
}

function endOfString(body: Buffer, from: number, limit: number): number {
  const end = Math.min(body.length, limit + 1)
  for (let at = from; at < end; at++) {
    if (body[at] === quote) return at
    if (body[at] === backslash) at++
  }
  return end
}

function requireShort(body: Buffer, from: number, end: number, limitBytes: number): Buffer {
  if (end - from > limitBytes)
    throw garbledAnswer('a list', `one of its rows is over ${limitBytes} bytes`)
  return body.subarray(from, end)
}
