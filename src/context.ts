/** Who is served by this piece of work: the trace id and a logger that writes it in every line. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'

export interface Context {
  readonly traceId: string
  readonly log: Logger
}

/** `X-Trace-Id` values that are taken over; anything else is replaced (docs/behaviour.md, Calls). */
export const traceIdPattern = /^[A-Za-z0-9_-]{8,64}$/

/** 32 hex digits. Node keeps a stock of random bytes for UUIDs only: an agent makes an id for each check of its cache. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '')
}

/** The logger is made when it is first asked for: many a context logs nothing. */
export function createContext(log: Logger, traceId: string = newTraceId()): Context {
  let own: Logger | null = null
  return {
    traceId,
    get log() {
      own ??= log.child({ traceId })
      return own
    },
  }
}
