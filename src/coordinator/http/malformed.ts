/** Answers what is no HTTP request (bad syntax, headers too long or too slow) with the same error body as the APIs. */
import type { createServer, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newTraceId } from '../../context.js'

type ParseError = Error & { readonly code?: string }

const answers: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are over 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come to its end in time'],
}

/** What follows a request that is still being answered, as a body without its length does, is answered after it. */
export function prepareRefusal(
  server: Pick<ReturnType<typeof createServer>, 'on'>,
): (error: ParseError, socket: Duplex) => void {
  const answering = new WeakMap<Duplex, ServerResponse>()
  server.on('request', ({ socket }, response) => {
    answering.set(socket, response)
    response.once('close', () => answering.delete(socket))
  })
  return (error, socket) => {
    const response = answering.get(socket)
    // A request that is broken itself will get no answer.
    if (response?.req.complete !== true) answerMalformed(error, socket)
    else
      response.once('close', () => {
        answerMalformed(error, socket)
      })
  }
}

function answerMalformed(error: ParseError, socket: Duplex): void {
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
