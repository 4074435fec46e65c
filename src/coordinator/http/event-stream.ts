/** A streaming answer: events to one caller, written as they occur, until either side closes it. */
import type { FastifyReply } from 'fastify'
import type { Answer } from './route.js'

export interface EventStream {
  readonly isClosed: boolean
  /** Bytes written but not yet taken by the connection. */
  readonly waitingBytes: number
  /** Returns at once; does nothing once the stream is closed. */
  write(text: Buffer): void
  /** Resolves when all bytes were taken or the stream is closed. */
  drain(): Promise<void>
  /** Closes after the written bytes were sent. */
  end(): void
  /** Closes immediately. */
  cut(): void
  /** Called once, for whatever reason it was closed. */
  onClose(listener: () => void): void
}

/** A client that does not read is disconnected after this time, so that it does not delay a stop of the coordinator. */
const endWithinMs = 2_000

/** HEAD gets the headers of a GET. */
export function sendEventStream(
  reply: FastifyReply,
  { status, headers = {}, stream }: Answer,
  method: string,
): FastifyReply {
  const { raw } = reply
  reply
    .headers({ ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    // A buffering proxy (nginx) would hold events back.
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
