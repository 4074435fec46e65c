/** One HTTP exchange with the coordinator. Every failure becomes one sentence that tells the user what to check. */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { speaksTls } from '../speaks-tls.js'
import { unanswered, type CliError } from './cli-error.js'

interface HttpCall {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Sent as a header, and shown with errors. */
  readonly traceId?: string | undefined
  readonly body?: string | undefined
  /** From the established connection to the last byte of the response. */
  readonly timeoutMs: number
  /** PEM; undefined uses the certificates that Node trusts. */
  readonly ca?: string | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  /** `X-Total-Count`; empty if absent. */
  readonly totalCount: string
  readonly etag: string | undefined
  readonly text: string
}

/** For name lookup, TCP connection and TLS handshake together. */
const connectTimeoutMs = 8_000
/** Far larger than any list of the API. */
const answerLimitBytes = 512 * 1024 * 1024

/** Rejects with CliError. */
export async function callHttp(call: HttpCall): Promise<HttpAnswer> {
  const incoming = await openHttp(call)
  try {
    return await readAnswer(incoming)
  } catch (error) {
    throw unreachable(call, error)
  }
}

/** Opens a streaming response: with `silenceMs`, only its head has a time limit, and after that every silence. */
export async function openHttp(call: HttpCall, silenceMs?: number): Promise<IncomingMessage> {
  const { protocol } = call.url
  const { request } = protocol === 'https:' ? await import('node:https') : await import('node:http')
  const { method, body, traceId } = call
  const headers = {
    ...call.headers,
    ...(traceId === undefined ? {} : { 'x-trace-id': traceId }),
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const options: RequestOptions & { ca?: string } = { method, headers }
  if (call.ca !== undefined) options.ca = call.ca
  return new Promise((resolve, reject) => {
    const outgoing = request(call.url, options)
    const limits = limitTime(outgoing, call)
    outgoing.on('response', (incoming) => {
      // The reader gets the cause of the failure instead of "aborted".
      outgoing.on('error', (error) => incoming.destroy(error))
      if (silenceMs !== undefined) {
        limits.stop()
        incoming.setTimeout(silenceMs, () => incoming.destroy(new Error('it fell silent')))
      }
      resolve(incoming)
    })
    outgoing.on('error', (error) => {
      isTlsInstead(call, error).then((isTls) => {
        reject(
          isTls
            ? unanswered(`Cannot reach ${call.url.origin}: ${tlsInstead}`, traceId)
            : unreachable(call, error),
        )
      }, reject)
    })
    outgoing.end(body)
  })
}

function limitTime(
  outgoing: ClientRequest,
  { url, timeoutMs }: HttpCall,
): { readonly stop: () => void } {
  const giveUp = (afterMs: number, what: string): NodeJS.Timeout =>
    setTimeout(() => outgoing.destroy(new Error(`no ${what} within ${afterMs / 1000} s`)), afterMs)
  let timer = giveUp(Math.min(connectTimeoutMs, timeoutMs), 'connection')
  outgoing.on('socket', (socket) => {
    const connected = (): void => {
      clearTimeout(timer)
      timer = giveUp(timeoutMs, 'answer')
    }
    // A reused connection emits no connect event.
    if (!socket.connecting) connected()
    else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
  })
  const stop = (): void => {
    clearTimeout(timer)
  }
  outgoing.on('close', stop)
  return { stop }
}

export async function readAnswer(incoming: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    // no encoding is set, so these are buffers
    sizeBytes += chunk.length
    if (sizeBytes > answerLimitBytes) throw new Error(`an answer over ${answerLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return {
    status: incoming.statusCode ?? 0,
    contentType: incoming.headers['content-type'] ?? '',
    totalCount: headerOf(incoming, 'x-total-count'),
    etag: incoming.headers.etag,
    text: Buffer.concat(chunks).toString('utf8'),
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

const tlsInstead = 'it speaks TLS; is it https:// instead of http://?'

async function isTlsInstead({ url }: HttpCall, error: unknown): Promise<boolean> {
  const isCutOff = error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
  return url.protocol === 'http:' && isCutOff && (await speaksTls(url))
}

const untrusted =
  'its certificate is not trusted; set CACHEFLEET_CA to its CA file, or log in with --fingerprint'

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed before an answer came',
  EPIPE: 'the connection was closed before an answer came',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'no route to that host',
  ENETUNREACH: 'no route to that network',
  EPROTO: 'it does not speak TLS; is it http:// instead of https://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; is it http:// instead of https://?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS; is it http:// instead of https://?',
  HPE_INVALID_CONSTANT: 'it does not speak HTTP; is it https:// instead of http://?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  CERT_HAS_EXPIRED: 'its certificate has expired, or the clock here is wrong',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet, or the clock here is wrong',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
}

function unreachable({ url, traceId }: HttpCall, error: unknown): CliError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const text = error instanceof Error && error.message !== '' ? error.message : code
  const reason = reasons[code] ?? text.replaceAll('\n', ' ')
  return unanswered(`Cannot reach ${url.origin}: ${reason}`, traceId)
}
