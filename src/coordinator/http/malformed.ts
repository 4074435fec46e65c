/** Answers what is no HTTP request (bad syntax, headers too long or too slow) with the same error body as the APIs. */
import type { Duplex } from 'node:stream'
import { newTraceId } from '../../context.js'

const answers: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are over 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come to its end in time'],
}

export function answerMalformed(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, errorMsg] = answers[error.code ?? ''] ?? [
    '400 Bad Request',
    'this is no HTTP request',
  ]
  const traceId = newTraceId()
  const body = JSON.stringify({ traceId, errorKey: 'body', errorMsg })
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `X-Trace-Id: ${traceId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.once('finish', () => socket.destroy())
}
