/** The root logger: JSON lines on standard output, pretty-printed on a terminal, without secrets. */
import { pino, type DestinationStream, type Logger } from 'pino'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/** Keys under which a secret could be logged by mistake. Every path is listed because a wildcard matches one level only. */
const secretPaths = ['password', 'token', 'secret', 'authorization', 'key']

/** Pretty output, in this thread: pino's own transport would be a separate file, which the bundled program does not have. */
export async function openTerminal(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ translateTime: 'HH:MM:ss', ignore: 'pid' })
}

/** Writes to standard output by default. */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretPaths, censor: '********' },
  }
  return destination ? pino(options, destination) : pino(options)
}
