/** Responds to malformed requests (bad syntax, headers too long or too slow) with the same error body as the APIs. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { FindAnswer } from './answers-under-way.js'
import { answerBare, answerEarly } from './bare-answer.js'

type ParseError = Error & { readonly code?: string }

const answers: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are over 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not come to its end in time'],
}

/** Malformed data behind a request that is still being answered, such as a body without a length, is answered after it. */
export function prepareRefusal(
  findAnswer: FindAnswer,
  log: Logger,
): (error: ParseError, socket: Duplex) => void {
  return (error, socket) => {
    const response = findAnswer(socket)
    // The malformed request itself gets no other answer.
    if (response?.req.complete !== true) answerMalformed(error, socket, log)
    else
      response.once('close', () => {
        answerMalformed(error, socket, log)
      })
  }
}

/** RFC 9112, 3.2. */
export function isHostless({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1'
}

export function refuseHostless(response: ServerResponse): void {
  answerEarly(response, { status: 400, errorKey: 'body', errorMsg: 'the header Host is missing' })
}

function answerMalformed(error: ParseError, socket: Duplex, log: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, errorMsg] = answers[error.code ?? ''] ?? [400, 'this is not an HTTP request']
  const traceId = answerBare(socket, { status, errorKey: 'body', errorMsg })
  // Nothing of the received data is logged: it may contain a token.
  log.info({ traceId, status, code: error.code }, 'what came is not a request')
}
