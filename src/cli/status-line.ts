/** One line on a terminal that is redrawn in its place, for what takes long. Elsewhere nothing is written. */
import { toPrintableLine } from './printable-text.js'

interface StatusLine {
  draw(line: string): void
  /** Takes the line away. */
  remove(): void
}

/** What ends sooner would only flicker. */
const tickEveryMs = 1000
/** Of a terminal that does not say. */
const usualWidthColumns = 80

export function createStatusLine(stderr: NodeJS.WriteStream): StatusLine {
  let shown = ''
  const write = (line: string): void => {
    if (!stderr.isTTY || line === shown) return
    shown = line
    stderr.write(`\r\x1b[K${line}`)
  }
  return {
    // A line that is wrapped is not redrawn in its place.
    draw: (line) => {
      write(toPrintableLine(line).slice(0, (stderr.columns || usualWidthColumns) - 1))
    },
    remove: () => {
      write('')
    },
  }
}

/** `site: compiling, 3 s` until `work` has ended. */
export async function withClock<T>(
  stderr: NodeJS.WriteStream,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const line = createStatusLine(stderr)
  const startedAt = performance.now()
  const timer = setInterval(() => {
    line.draw(`${what}, ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }, tickEveryMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    line.remove()
  }
}
