/** Answers on a bare socket, where there is no request to answer, with the same error body as the APIs, and ends it. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { newTraceId } from '../../context.js'
import type { ErrorKey } from '../../errors.js'

export interface BareAnswer {
  readonly status: number
  readonly errorKey: ErrorKey
  readonly errorMsg: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers the trace id that was sent. */
export function answerBare(socket: Duplex, answer: BareAnswer): string {
  const { status, errorKey, errorMsg, headers = {} } = answer
  const traceId = newTraceId()
  const body = JSON.stringify({ traceId, errorKey, errorMsg })
  const head = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'X-Trace-Id': traceId,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
  return traceId
}
