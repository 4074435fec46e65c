/** Notifies systemd if it started this process (Type=notify): ready, alive, reloading, stopping. Does nothing otherwise. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { startLoop, type Loop } from './runtime/loop.js'

const run = promisify(execFile)

interface ServiceManager {
  readonly ready: (status: string) => void
  readonly stopping: () => void
}

/** The unit's WatchdogSec is 30 s: two pings may be lost. */
const watchdogPingMs = 10_000

/** `socket`: the variable NOTIFY_SOCKET, which systemd-notify inherits. Node itself cannot write to a datagram socket. */
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
  // Not --no-block: systemd looks up the sending process and drops the notification if that process has ended.
  await run('systemd-notify', [`--pid=${process.pid}`, ...states])
}
