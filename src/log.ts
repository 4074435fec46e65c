/** The root logger: JSON lines on standard output, pretty on a terminal, secrets never. */
import { pino, type Logger } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/** Names under which a secret could be logged by mistake; each path is listed, a wildcard matches one level only. */
const secretPaths = ['password', 'token', 'secret', 'authorization', 'key']

export function createLog(level: LogLevel, options: { pretty: boolean }): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretPaths, censor: '********' },
    ...(options.pretty
      ? {
          transport: {
            target: 'pino-pretty',
            options: { translateTime: 'HH:MM:ss', ignore: 'pid' },
          },
        }
      : {}),
  })
}
