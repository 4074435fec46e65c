/** A terminal line that is redrawn in place during long operations. Writes nothing if stderr is not a terminal. */
import { toPrintableLine } from './printable-text.js'

interface StatusLine {
  draw(line: string): void
  /** Removes the line. */
  remove(): void
}

/** An operation that takes less time would only make the line flicker. */
const tickEveryMs = 1000
/** Width for terminals that do not report one. */
const usualWidthColumns = 80

export function createStatusLine(stderr: NodeJS.WriteStream): StatusLine {
  let shown = ''
  const write = (line: string): void => {
    if (!stderr.isTTY || line === shown) return
    shown = line
    stderr.write(`\r\x1b[K${line}`)
  }
  return {
    // A wrapped line could not be redrawn in place.
    draw: (line) => {
      write(toPrintableLine(line).slice(0, (stderr.columns || usualWidthColumns) - 1))
    },
    remove: () => {
      write('')
    },
  }
}

/** Shows a line such as `site: compiling, 3 s` until `work` ends. */
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
