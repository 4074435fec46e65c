/**
 * Decodes bytes from the management port to replies, independent of sockets and commands.
 *
 * A reply is a header of 13 bytes, a body of exactly `length` bytes, and one LF that is not counted (lib/libvarnish/vcli_proto.c,
 * VCLI_WriteResult).
 */

import { ManagementPortError } from './errors.js'
import { replyHeaderBytes } from './status.js'

export interface Reply {
  readonly status: number
  /** Bytes, because `vcl.show` returns whatever was loaded. May share memory with other replies: copy it before storing it. */
  readonly body: Buffer
}

/** Limit for conversion to text; messages of a cache are far shorter. */
const textLimitBytes = 1 << 20

/** The body as text, cut at the limit; bytes that are not UTF-8 become U+FFFD. */
export function replyText(reply: Reply): string {
  return reply.body.toString('utf8', 0, textLimitBytes)
}

/** A longer reply counts as garbage (docs/behaviour.md, Failing). The cache's own limit, cli_limit, is at most 100 MB. */
export const replyLimitBytes = 64 * 1024 * 1024

const lineFeed = 0x0a
const blank = 0x20

export class ReplyDecoder {
  /** Set once the stream violates the protocol; the rest is undecodable, and `push` returns no more replies. */
  failure: ManagementPortError | null = null
  /** Start of an incomplete reply: its first `#used` bytes. Grows by doubling, so that each byte is copied only a few times. */
  #pending = Buffer.alloc(0)
  #used = 0
  /** Number of bytes of the pending reply needed before decoding can continue. */
  #needed = replyHeaderBytes

  /** Returns all replies that these bytes complete, in order. */
  push(chunk: Buffer): Reply[] {
    if (this.failure) return []
    if (this.#used === 0) return this.#decode(chunk)
    this.#append(chunk)
    if (this.#used < this.#needed) return []
    const data = this.#pending.subarray(0, this.#used)
    this.#pending = Buffer.alloc(0)
    this.#used = 0
    return this.#decode(data)
  }

  /** True between replies, where the end of the stream truncates none. */
  get isBetweenReplies(): boolean {
    return this.#used === 0
  }

  #decode(data: Buffer): Reply[] {
    const replies: Reply[] = []
    let offset = 0
    for (;;) {
      this.#needed = replyHeaderBytes
      if (data.length - offset < replyHeaderBytes) break
      const status = readStatus(data, offset)
      const length = readLength(data, offset)
      if (status === null || length === null) return this.#fail(replies, data, offset)
      this.#needed = replyHeaderBytes + length + 1
      const end = offset + this.#needed
      if (data.length < end) break
      if (data[end - 1] !== lineFeed) return this.#fail(replies, data, offset)
      replies.push({ status, body: data.subarray(offset + replyHeaderBytes, end - 1) })
      offset = end
    }
    if (offset < data.length) this.#append(data.subarray(offset))
    return replies
  }

  #append(bytes: Buffer): void {
    const used = this.#used + bytes.length
    if (used > this.#pending.length) {
      const grown = Buffer.allocUnsafe(Math.max(used, 2 * this.#pending.length))
      this.#pending.copy(grown, 0, 0, this.#used)
      this.#pending = grown
    }
    bytes.copy(this.#pending, this.#used)
    this.#used = used
  }

  #fail(replies: Reply[], data: Buffer, offset: number): Reply[] {
    const start = JSON.stringify(data.toString('latin1', offset, offset + replyHeaderBytes))
    this.failure = new ManagementPortError(
      'garbled',
      `these bytes are not a reply of a management port: ${start} (13 bytes "<status> <length>" and a body of at most ${replyLimitBytes} bytes are expected)`,
    )
    return replies
  }
}

/** Three digits and a blank. */
function readStatus(data: Buffer, offset: number): number | null {
  const hundreds = digitAt(data, offset)
  const tens = digitAt(data, offset + 1)
  const ones = digitAt(data, offset + 2)
  if (hundreds < 1 || tens < 0 || ones < 0 || data[offset + 3] !== blank) return null
  return 100 * hundreds + 10 * tens + ones
}

/** One to eight digits, padded with blanks on the right, LF. */
function readLength(data: Buffer, offset: number): number | null {
  let at = offset + 4
  const last = offset + replyHeaderBytes - 1
  let length = 0
  const first = at
  for (let digit = digitAt(data, at); digit >= 0 && at < last; digit = digitAt(data, ++at))
    length = 10 * length + digit
  if (at === first || length > replyLimitBytes) return null
  while (at < last) if (data[at++] !== blank) return null
  return data[last] === lineFeed ? length : null
}

/** Returns -1 if there is no digit. */
function digitAt(data: Buffer, at: number): number {
  const value = (data[at] ?? 0) - 0x30
  return value >= 0 && value <= 9 ? value : -1
}
