/** Work that is done once an hour, the only use of the scheduler. */
import { schedule, type TaskOptions } from 'node-cron'
import type { Logger } from 'pino'
import { createContext } from '../context.js'

export interface HourlyWork {
  stop(): Promise<void>
}

type TaskLogger = NonNullable<TaskOptions['logger']>

/** `name` is what a failure is logged as; the next hour tries again. */
export function startHourly(name: string, log: Logger, work: () => Promise<void>): HourlyWork {
  let running: Promise<void> = Promise.resolve()
  const task = schedule(
    '7 * * * *',
    () => {
      running = work().catch((error: unknown) => {
        createContext(log).log.error({ err: error }, `${name} failed`)
      })
      return running
    },
    { name, noOverlap: true, unref: true, logger: schedulerLog(log) },
  )
  return {
    stop: async () => {
      await task.destroy()
      await running
    },
  }
}

/** The scheduler writes to the console otherwise. */
function schedulerLog(log: Logger): TaskLogger {
  return {
    info: (message) => {
      log.debug(message)
    },
    warn: (message) => {
      log.warn(message)
    },
    error: (message, error) => {
      log.error({ err: error ?? message }, String(message))
    },
    debug: (message) => {
      log.debug(String(message))
    },
  }
}
