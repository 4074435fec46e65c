/** The lines of a stream of bytes, wherever it is cut. */

/** Longer lines are dropped: a record of the log has 255 bytes unless `vsl_reclen` says more (at most 4 kB), a line some of them. */
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
