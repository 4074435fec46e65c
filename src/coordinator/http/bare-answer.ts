/** Refusals by the listener itself, before any API: the same error body, then the connection ends. */
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newTraceId } from '../../context.js'
import type { ErrorKey } from '../../errors.js'

interface BareAnswer {
  readonly status: number
  readonly errorKey: ErrorKey
  readonly errorMsg: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Writes to a bare socket, where there is no request. Returns the trace id that was sent. */
export function answerBare(socket: Duplex, answer: BareAnswer): string {
  const { traceId, head, body } = compose(answer)
  const { status } = answer
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
  return traceId
}

/** Responds to a request that no API handles. */
export function answerEarly(response: ServerResponse, answer: BareAnswer): void {
  const { head, body } = compose(answer)
  response.writeHead(answer.status, head).end(body)
}

function compose({ errorKey, errorMsg, headers = {} }: BareAnswer) {
  const traceId = newTraceId()
  const body = JSON.stringify({ traceId, errorKey, errorMsg })
  const head: Record<string, string> = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'X-Trace-Id': traceId,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }
  return { traceId, head, body }
}
