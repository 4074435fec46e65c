/** What systemd is told when it started us (Type=notify): ready, alive, reloading, stopping. Elsewhere nothing happens. */
import { execFile } from 'node:child_process'
import type { Logger } from 'pino'

export interface ServiceManager {
  readonly ready: (status: string) => void
  readonly stopping: () => void
}

/** The unit's WatchdogSec is 30: two pings may be lost. */
const watchdogPingMs = 10_000

/** `socket` is the variable NOTIFY_SOCKET, which the child inherits. Node cannot write to a datagram socket itself. */
export function createServiceManager(socket: string | undefined, log: Logger): ServiceManager {
  let timer: NodeJS.Timeout | undefined
  let failed = false
  return {
    ready: (status) => {
      notify(['--ready', `--status=${status}`])
      if (socket === undefined) return
      timer = setInterval(() => {
        notify(['WATCHDOG=1'])
      }, watchdogPingMs)
      timer.unref()
    },
    stopping: () => {
      clearInterval(timer)
      notify(['STOPPING=1'])
    },
  }

  function notify(states: readonly string[]): void {
    if (socket === undefined) return
    // --no-block: a receiver that never closes its barrier would hold us for 5 s.
    const words = ['--no-block', `--pid=${process.pid}`, ...states]
    execFile('systemd-notify', words, (error) => {
      if (error && !failed) log.warn({ err: error }, 'systemd-notify failed')
      failed = error !== null
    })
  }
}
