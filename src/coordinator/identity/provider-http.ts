/**
 * One HTTP call to an identity provider: without redirects, bounded in time and size, and only to addresses that may be called,
 * whatever its name resolves to at that moment. The connection uses exactly the address that was checked.
 */
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import { createJudgedLookup, type ResolveName } from '../http/judged-lookup.js'
import { findAddressProblem, findUrlProblem } from './provider-address.js'

/** The provider cannot be used: unreachable, too slow, a response too large, or an address that may not be called. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault'
}

/** A request as the client library passes it. */
interface ProviderRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Short, because a user waits for it. Keys and tokens take a few kilobytes. */
const timeoutMs = 5_000
const answerLimitBytes = 1 << 20

/** `resolveName`: the system's resolver, unless a test provides one. */
export function createProviderFetch(
  resolveName?: ResolveName,
): (url: string, request: ProviderRequest) => Promise<Response> {
  return async (text, { method, headers, body, signal }) => {
    const url = new URL(text)
    const problem = findUrlProblem(url)
    if (problem !== null) throw new ProviderFault(problem)
    const deadline = AbortSignal.timeout(timeoutMs)
    return send(url, {
      body: toText(body),
      options: {
        method,
        headers,
        agent: false,
        lookup: createJudgedLookup({
          judge: (address) => findAddressProblem(address, url.protocol),
          toError: (text) => new ProviderFault(text),
          ...(resolveName && { resolveName }),
        }),
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      },
    })
  }
}

function toText(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new ProviderFault('request bodies of this type are not supported')
}

interface Sending {
  readonly body: string | Uint8Array | undefined
  readonly options: RequestOptions
}

function send(url: URL, { body, options }: Sending): Promise<Response> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(error instanceof ProviderFault ? error : new ProviderFault(describeFault(error)))
    }
    const request = url.protocol === 'https:' ? requestSecure : requestPlain
    const sent = request(url, options, (message) => {
      readAnswer(message).then(resolve, (error: unknown) => {
        sent.destroy()
        fail(error instanceof Error ? error : new Error(String(error)))
      })
    })
    sent.once('error', fail)
    sent.end(body)
  })
}

/** Returns the system's error code (`ECONNREFUSED`), because the provider's own text must not be logged. */
function describeFault(error: Error): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'it takes too long'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** Compressed responses are not decompressed and so fail as JSON: a response never grows beyond its size on the wire. */
async function readAnswer(message: IncomingMessage): Promise<Response> {
  const { statusCode: status = 0 } = message
  if (status >= 300 && status < 400) throw new ProviderFault('it answers with a redirect')
  if (status < 200 || status > 599)
    throw new ProviderFault('its response has an invalid status code')
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    // buffers, because no encoding is set
    sizeBytes += chunk.length
    if (sizeBytes > answerLimitBytes) throw new ProviderFault('its answer is too large')
    chunks.push(chunk)
  }
  const headers = new Headers()
  for (const name of ['content-type', 'www-authenticate']) {
    const value = message.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const hasBody = status !== 204 && status !== 205
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
}
