/**
 * Allows one test run at a time on a host, across agents: it binds an address that only one process of the host can have and that is
 * released however that process ends. Services with private folders share it, which a lock file would not allow.
 */
import { createServer, type Server } from 'node:net'
import { pauseFor } from '../../runtime/pause.js'

/** Abstract: it is in no folder (unix(7)). */
const address = '\0cachefleet-tests'
const pollMs = 100

/** Returns null when another process held the lock all the time. The caller must call `release`. */
export async function lockHost(
  waitMs: number,
  signal: AbortSignal,
): Promise<{ release(): void } | null> {
  const untilMs = performance.now() + waitMs
  for (;;) {
    const server = await listen()
    if (server !== null) return { release: () => server.close() }
    if (signal.aborted || performance.now() > untilMs) return null
    await pauseFor(pollMs, signal)
  }
}

function listen(): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    server.listen(address, () => {
      resolve(server)
    })
  })
}
