/** Sends an Answer: JSON at once, long lists in pieces so that no answer holds the event loop for long. */
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import type { Answer } from './route.js'

/** A list of 50 agents is written at once; 10,000 take about 100 turns of 1 ms. */
const itemsAtOnce = 100
const pieceBytes = 64 * 1024

export function sendAnswer(
  reply: FastifyReply,
  { status, body, listKey, text, headers }: Answer,
  log: Logger,
): FastifyReply {
  reply.status(status)
  if (headers) reply.headers(headers)
  if (body === undefined) return reply.send()
  if (body instanceof Uint8Array) return reply.send(body)
  reply.header('content-type', 'application/json; charset=utf-8')
  if (isAsyncIterable(body) || (Array.isArray(body) && body.length > itemsAtOnce))
    return reply.send(Readable.from(writeList(body, listKey, log), { objectMode: false }))
  return reply.send(text ?? JSON.stringify(listKey === undefined ? body : { [listKey]: body }))
}

async function* writeList(
  items: AsyncIterable<unknown> | readonly unknown[],
  key: string | undefined,
  log: Logger,
): AsyncGenerator<string> {
  const [open, close] = key === undefined ? ['[', ']'] : [`{${JSON.stringify(key)}:[`, ']}']
  let piece = open
  let separator = ''
  try {
    for await (const item of items) {
      piece += separator + JSON.stringify(item)
      separator = ','
      if (piece.length >= pieceBytes) {
        yield piece
        piece = ''
        await nextTurn()
      }
    }
  } catch (error) {
    // The status was sent already: the framework breaks the connection, so that the caller notices the incomplete list.
    log.error({ err: error }, 'a list broke off in the middle')
    throw error
  }
  yield piece + close
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
