/** Hourly tasks, the only use of the scheduler. */
import type { ScheduledTask, TaskOptions } from 'node-cron'
import type { Logger } from 'pino'
import { createContext } from '../context.js'

export interface HourlyWork {
  stop(): Promise<void>
}

type TaskLogger = NonNullable<TaskOptions['logger']>

/** Loading the scheduler (names of days and months) takes a twentieth of a start, and no task is due that soon. */
const scheduledAfterMs = 30_000

/** `name` appears in the log message of a failure; the task is retried in the next hour. */
export function startHourly(name: string, log: Logger, work: () => Promise<void>): HourlyWork {
  let running: Promise<void> = Promise.resolve()
  let scheduling: Promise<ScheduledTask | null> = Promise.resolve(null)
  const run = (): Promise<void> => {
    running = work().catch((error: unknown) => {
      createContext(log).log.error({ err: error }, `${name} failed`)
    })
    return running
  }
  const timer = setTimeout(() => {
    scheduling = scheduleHourly(name, log, run).catch((error: unknown) => {
      createContext(log).log.error({ err: error }, `${name} could not be scheduled`)
      return null
    })
  }, scheduledAfterMs).unref()
  return {
    stop: async () => {
      clearTimeout(timer)
      const task = await scheduling
      await task?.destroy()
      await running
    },
  }
}

async function scheduleHourly(
  name: string,
  log: Logger,
  run: () => Promise<void>,
): Promise<ScheduledTask> {
  const { schedule } = await import('node-cron')
  const options = { name, noOverlap: true, unref: true, logger: schedulerLog(log) }
  return schedule('7 * * * *', run, options)
}

/** Otherwise the scheduler would write to the console. */
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
