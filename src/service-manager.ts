/** What systemd is told when it started us (Type=notify): ready, alive, reloading, stopping. Elsewhere nothing happens. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { startLoop, type Loop } from './runtime/loop.js'

const run = promisify(execFile)

interface ServiceManager {
  readonly ready: (status: string) => void
  readonly stopping: () => void
}

/** The unit's WatchdogSec is 30: two pings may be lost. */
const watchdogPingMs = 10_000

/** `socket` is the variable NOTIFY_SOCKET, which the child inherits. Node cannot write to a datagram socket itself. */
export function createServiceManager(socket: string | undefined, log: Logger): ServiceManager {
  if (socket === undefined) return { ready: () => undefined, stopping: () => undefined }
  const trouble = 'systemd-notify failed'
  let loop: Loop | null = null
  const send = (states: readonly string[]): void => {
    notify(states).catch((error: unknown) => {
      log.warn({ err: error }, trouble)
    })
  }
  return {
    ready: (status) => {
      send(['--ready', `--status=${status}`])
      loop = startLoop({
        log,
        trouble,
        everyMs: watchdogPingMs,
        holdsProcess: false,
        pass: () => notify(['WATCHDOG=1']),
      })
    },
    stopping: () => {
      void loop?.close()
      send(['STOPPING=1'])
    },
  }
}

async function notify(states: readonly string[]): Promise<void> {
  // Not --no-block: systemd looks up whose process it was that told it, and drops what is told by one that has ended.
  await run('systemd-notify', [`--pid=${process.pid}`, ...states])
}
