/**
 * One at a time on a host, whichever agent does it: an address that one process of the host can have, and that ends with it, however
 * that ends. Services with folders of their own share it; what lies in a folder they would not.
 */
import { createServer, type Server } from 'node:net'
import { pauseFor } from '../../runtime/pause.js'

/** Abstract: it stands in no folder (unix(7)). */
const address = '\0cachefleet-tests'
const pollMs = 100

/** Null: another had it all the while. `release` must follow. */
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
