/** Splits a stream of bytes into lines, wherever its chunks end. */

/** Longer lines are dropped: a log record has 255 bytes unless `vsl_reclen` raises that (at most 4 kB); a line has several. */
const lineLimitBytes = 64 << 10

/** Takes the chunks of one stream. */
export function splitLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end)
      if (!isTooLong && rest.length + part.length <= lineLimitBytes)
        onLine((rest.length === 0 ? part : Buffer.concat([rest, part])).toString('latin1'))
      rest = Buffer.alloc(0)
      isTooLong = false
      from = end + 1
    }
    const left = chunk.subarray(from)
    isTooLong ||= rest.length + left.length > lineLimitBytes
    if (!isTooLong) rest = Buffer.concat([rest, left])
  }
}
