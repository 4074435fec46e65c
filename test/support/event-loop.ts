/** How long a piece of work keeps everybody else from the event loop. */
import { AssertionError } from 'node:assert'
import { setImmediate as nextRound } from 'node:timers/promises'
import t from 'tap'

/**
 * What nobody may exceed. By the clock or the processor, whichever is less, and the best of some runs, since other programs run here,
 * too.
 */
const mostMs = 50
const runsMost = 12
/** In thousandths of a second. */
function readClocks() {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), processorMs: (user + system) / 1000 }
}

async function measureBlock(work: () => unknown): Promise<number> {
  let longestMs = 0
  let last = readClocks()
  const measure = (): void => {
    const now = readClocks()
    const spentMs = Math.min(now.wallMs - last.wallMs, now.processorMs - last.processorMs)
    longestMs = Math.max(longestMs, spentMs)
    last = now
  }
  const state = { isDone: false }
  const worked = (async () => {
    await nextRound()
    last = readClocks()
    try {
      await work()
    } catch (error) {
      // A refusal takes its time, too.
      if (error instanceof AssertionError) throw error
    } finally {
      measure()
      state.isDone = true
    }
  })()
  while (!state.isDone) {
    await nextRound()
    measure()
  }
  await worked
  return longestMs
}

export function holdsFor(name: string, work: () => unknown): void {
  holdsForLarge(name, () => undefined, work)
}

/** What is made for it is there for its own time only. */
export function holdsForLarge<Input>(
  name: string,
  make: () => Input | Promise<Input>,
  work: (input: Input) => unknown,
): void {
  void t.test(name, async (t) => {
    const input = await make()
    let bestMs = Infinity
    for (let run = 0; run < runsMost && bestMs > mostMs; run++)
      bestMs = Math.min(bestMs, await measureBlock(() => work(input)))
    t.ok(bestMs <= mostMs, `${bestMs.toFixed(1)} ms`)
  })
}

export const fill = (unit: string, bytes: number): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)))

export function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined // Refused.
  }
}
