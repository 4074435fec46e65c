/** A loopback port that nobody listens on. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const loopback = '127.0.0.1'

/** `preferred` when it is free; else one below the range of outgoing connections, so that none of those takes it meanwhile. */
export async function findFreePort(preferred: number | null = null): Promise<number> {
  if (preferred !== null && (await isFree(preferred))) return preferred
  for (;;) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => {
      resolve(false)
    })
    probe.listen(port, loopback, () => {
      probe.close(() => {
        resolve(true)
      })
    })
  })
}
