/** An answer that goes on: events to one caller, written as they come, until either side ends it. */
import type { FastifyReply } from 'fastify'
import type { Answer } from './route.js'

export interface EventStream {
  readonly isClosed: boolean
  /** Written, and not yet taken by the connection. */
  readonly waitingBytes: number
  /** Never waits; nothing once it is closed. */
  write(text: Buffer): void
  /** Resolves when all was taken, or it is closed. */
  drain(): Promise<void>
  /** After what was written. */
  end(): void
  /** At once. */
  cut(): void
  /** Called once, however it was closed. */
  onClose(listener: () => void): void
}

/** A client that does not read is disconnected after this, so that stopping the coordinator does not wait for it. */
const endWithinMs = 2_000

/** HEAD gets what GET begins with. */
export function sendEventStream(
  reply: FastifyReply,
  { status, headers = {}, stream }: Answer,
  method: string,
): FastifyReply {
  const { raw } = reply
  reply
    .headers({ ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    // A proxy that collects answers (nginx) would keep events back.
    .headers({ 'x-accel-buffering': 'no', connection: 'close' })
    .hijack()
  raw.statusCode = status
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value)
  if (method === 'HEAD' || !stream) {
    raw.end()
    return reply
  }
  raw.flushHeaders()
  const isClosed = (): boolean => raw.destroyed || raw.writableEnded
  stream({
    get isClosed() {
      return isClosed()
    },
    get waitingBytes() {
      return raw.writableLength
    },
    write: (text) => {
      if (!isClosed()) raw.write(text)
    },
    drain: async () => {
      if (isClosed() || !raw.writableNeedDrain) return
      await new Promise<void>((resolve) => {
        const go = (): void => {
          raw.off('drain', go).off('close', go)
          resolve()
        }
        raw.on('drain', go).on('close', go)
      })
    },
    end: () => {
      if (isClosed()) return
      raw.end()
      const late = setTimeout(() => raw.destroy(), endWithinMs)
      raw.once('close', () => {
        clearTimeout(late)
      })
    },
    cut: () => {
      raw.destroy()
    },
    onClose: (listener) => {
      if (raw.destroyed) listener()
      else raw.once('close', listener)
    },
  })
  return reply
}
