/**
 * The wall clock of a private cache, which a test can advance: a small preloaded library (ld.so(8), LD_PRELOAD) adds the offset in a
 * file that it maps. Nothing else on the host sees that time.
 */
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface TestClock {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Rejects with the reason why the clock cannot be advanced. */
  readonly advance: (seconds: number) => Promise<void>
  /** Environment variables for the cache. */
  readonly environment: Readonly<Record<string, string>>
}

const nanosecondsPerSecond = 1e9
const offsetVariable = 'CACHEFLEET_CLOCK_OFFSET'

/** `library`: null when it was not built. */
export async function openTestClock(folder: string, library: string | null): Promise<TestClock> {
  if (library === null) return { now: Date.now, advance: refuse, environment: {} }
  const path = join(folder, 'clock-offset')
  let offsetSeconds = 0
  const write = async () => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(Math.round(offsetSeconds * nanosecondsPerSecond)))
    // Overwritten in place: the cache has the file mapped.
    const file = await open(path, 'r+')
    try {
      await file.write(bytes, 0, bytes.length, 0)
    } finally {
      await file.close()
    }
  }
  await writeFile(path, Buffer.alloc(8), { mode: 0o644 })
  return {
    now: () => Date.now() + offsetSeconds * 1000,
    advance: async (seconds) => {
      offsetSeconds += seconds
      await write()
    },
    environment: { LD_PRELOAD: library, [offsetVariable]: path },
  }
}

function refuse(): Promise<void> {
  return Promise.reject(
    new Error(
      'time cannot be advanced here: the library for it is not there, since no C compiler was when cachefleet was built',
    ),
  )
}
