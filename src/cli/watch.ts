/** Repeats a read: reports a failure once and retries. */
import { isRefusal } from './follow-events.js'
import type { System } from './verb.js'
import { pauseFor } from '../runtime/pause.js'

/** Clears the screen and moves the cursor to its top. */
export const clearScreen = '\x1b[H\x1b[2J'

interface Watched<Read, Ended> {
  readonly everyMs: number
  readonly read: () => Promise<Read>
  /** Returns the result once it has ended; undefined to continue. */
  readonly show: (read: Read) => Promise<Ended | undefined> | Ended | undefined
}

/** Throws the error of the first attempt, and CliError if the coordinator refuses. */
export async function watch<Read, Ended>(
  { stderr }: Pick<System, 'stderr'>,
  { everyMs, read, show }: Watched<Read, Ended>,
): Promise<Ended> {
  let [stood, isBroken] = [false, false]
  for (;;) {
    try {
      const ended = await show(await read())
      if (ended !== undefined) return ended
      ;[stood, isBroken] = [true, false]
    } catch (error) {
      if (!stood || isRefusal(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      if (!isBroken) stderr.write(`cachefleet: ${reason}; trying again\n`)
      isBroken = true
    }
    await pauseFor(everyMs)
  }
}
