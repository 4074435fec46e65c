/**
 * Loopback ports for the servers of tests. Each test process has its own ports and hands them out in turn: a stopped server
 * finds its port free when it starts again. They are below those a daemon takes for its cache (`src/agent/host/free-port.ts`)
 * and below those of outgoing connections.
 */
import { isFree } from '../../src/agent/host/free-port.js'

/** Above 10080, the highest port that browsers and `fetch` refuse. */
const lowest = 10_100
const count = 4_900
/** `scripts/run-tests.mjs` gives each concurrent process another share: `NUMBER/OF`. A file run alone has a tenth. */
const [number, of] = (process.env['CACHEFLEET_TEST_SHARE'] ?? `${process.pid % 10}/10`)
  .split('/')
  .map(Number) as [number, number]
const shareCount = Math.floor(count / of)
let handedOut = 0

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = lowest + number * shareCount + (handedOut++ % shareCount)
    if (await isFree(port)) return port
  }
}
