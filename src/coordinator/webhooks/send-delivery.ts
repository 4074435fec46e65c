/**
 * Sends one POST to a webhook: to a judged address, without redirects and proxies, with limits for the time and for the bytes read of
 * the response. Any fault of the receiver is an outcome, never an exception.
 */
import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { webhookLimits } from '../../resources/webhook.js'
import { createJudgedLookup, type ResolveName } from '../http/judged-lookup.js'
import { version } from '../../version.js'
import type { Attempt } from './delivery-queries.js'
import { findTargetProblem, type AddressRules } from './judge-address.js'
import { findUrlProblem } from './webhook-url.js'

interface Sending {
  readonly url: string
  readonly body: string
  readonly signature: string
  readonly rules: AddressRules & { readonly hasNetworks: boolean }
  /** Fires when the sender stops. */
  readonly signal: AbortSignal
  /** The system's resolver unless a test passes its own. */
  readonly resolveName?: ResolveName
  /** docs/behaviour.md, Webhooks: 10 s. */
  readonly timeoutMs?: number
}

/** Rejects when the signal fires. */
export async function sendDelivery(sending: Sending): Promise<Attempt> {
  const { url: text, rules, signal, timeoutMs = 10_000 } = sending
  signal.throwIfAborted()
  const url = new URL(text)
  const problem = findUrlProblem(url, rules)
  if (problem !== null) return failed(problem)
  const ending = new AbortController()
  const end = (): void => {
    ending.abort()
  }
  const timer = setTimeout(end, timeoutMs)
  signal.addEventListener('abort', end)
  try {
    return await post(url, sending, ending.signal)
  } catch (error) {
    signal.throwIfAborted()
    return failed(
      ending.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : describeError(error),
    )
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

function post(url: URL, sending: Sending, signal: AbortSignal): Promise<Attempt> {
  const { body, signature, rules, resolveName } = sending
  return new Promise((resolve, reject) => {
    let hasStatus = false
    const request = url.protocol === 'https:' ? requestSecure : requestPlain
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `cachefleet/${version}`,
          'x-cachefleet-signature': signature,
        },
        // A new connection: an open one was judged for another call.
        agent: false,
        lookup: createJudgedLookup({
          judge: (address) => findTargetProblem(address, url.protocol, rules),
          toError: (problem) => new RefusedAddress(problem),
          ...(resolveName && { resolveName }),
        }),
        signal,
      },
      (message) => {
        hasStatus = true
        void readBeginning(message).then((answer) => {
          sent.destroy()
          resolve(judgeAnswer(message.statusCode ?? 0, answer))
        })
      },
    )
    // Errors after the status are handled by readBeginning.
    sent.on('error', (error) => {
      if (!hasStatus) reject(error)
    })
    sent.end(body)
  })
}

class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
}

/** The status has arrived and decides the outcome; a body cut off after it counts as complete. */
async function readBeginning(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      // no encoding is set, so these are buffers
      chunks.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes >= webhookLimits.answerBytes) break
    }
  } catch {
    // It was cut off, or never ended.
  }
  const beginning = Buffer.concat(chunks).subarray(0, webhookLimits.answerBytes)
  // PostgreSQL cannot store NUL.
  return beginning.toString().replaceAll('\0', '')
}

function judgeAnswer(status: number, answer: string): Attempt {
  const isDelivered = status >= 200 && status < 300
  const isRedirect = status >= 300 && status < 400
  const why = isRedirect ? ', which is not followed' : ''
  return { isDelivered, status, answer, error: isDelivered ? null : `it answered ${status}${why}` }
}

function failed(error: string): Attempt {
  return { isDelivered: false, status: null, answer: null, error }
}

/** The system's error code (`ECONNREFUSED`), or why the address was refused. */
function describeError(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message
  if (!(error instanceof Error)) return String(error)
  // Connecting to each of several addresses failed.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  if (first !== undefined) return describeError(first)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
