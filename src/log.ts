/** The root logger: JSON lines on standard output, pretty on a terminal, secrets never. */
import { pino, type DestinationStream, type Logger } from 'pino'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/** Names under which a secret could be logged by mistake; each path is listed, a wildcard matches one level only. */
const secretPaths = ['password', 'token', 'secret', 'authorization', 'key']

/** For people: in this thread, since a transport of the logger's own is a file that the bundled program does not have. */
export async function openTerminal(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ translateTime: 'HH:MM:ss', ignore: 'pid' })
}

/** To standard output unless told. */
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
