/** The context of one piece of work: its trace id, and a logger that writes it in every line. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'

export interface Context {
  readonly traceId: string
  readonly log: Logger
}

/** Accepted `X-Trace-Id` values; any other is replaced (docs/behaviour.md, Calls). */
export const traceIdPattern = /^[A-Za-z0-9_-]{8,64}$/

/** 32 hex digits. Node buffers random bytes only for UUIDs, and an agent needs an id for each check of its cache. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '')
}

/** The logger is created on first use: many contexts log nothing. */
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
