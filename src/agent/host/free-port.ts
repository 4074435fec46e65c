/** Finds a loopback port without a listener. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const loopback = '127.0.0.1'

/** `preferred` if it is free; else a port below the range of outgoing connections, so that none of them takes it. */
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
