/**
 * Authenticates a fresh stream: connecting → challenged → ready. It works the same in both directions: with `-M` the cache connects to us,
 * and still sends the challenge first.
 */

import type { Duplex } from 'node:stream'
import { answerChallenge } from './auth.js'
import { ManagementPortError } from './errors.js'
import { replyText, type Reply, type ReplyDecoder } from './frame.js'
import { parseBanner, type Banner } from './release.js'
import { cliStatus } from './status.js'

export interface HandshakeOptions {
  /** Called for every challenge: the file may be rewritten while the cache is running, which takes effect at once. */
  readonly secret: () => Promise<Buffer>
  /** Default 30 s: the manager greets no client while it compiles for another. */
  readonly handshakeTimeoutMs?: number
  readonly signal?: AbortSignal
}

const defaultHandshakeTimeoutMs = 30_000

/** Resolves with the stream paused after the banner; on failure the stream is destroyed. */
export async function authenticate(
  stream: Duplex,
  decoder: ReplyDecoder,
  options: HandshakeOptions,
): Promise<Banner> {
  const greeting = readGreeting(stream, decoder, options)
  try {
    const first = await greeting.next()
    if (first.status === cliStatus.ok) return parseBanner(replyText(first))
    if (first.status !== cliStatus.auth)
      throw new ManagementPortError(
        'garbled',
        `the first message has status ${first.status}; a challenge (107) or the banner (200) is expected`,
        { status: first.status, text: replyText(first) },
      )
    const answer = answerChallenge(first.body, await readSecret(options))
    greeting.check()
    stream.write(`auth ${answer}\n`)
    const verdict = await greeting.next()
    if (verdict.status !== cliStatus.ok) throw authRefusal(verdict)
    return parseBanner(replyText(verdict))
  } catch (error) {
    stream.destroy()
    throw error
  } finally {
    greeting.stop()
  }
}

interface Greeting {
  next(): Promise<Reply>
  /** Throws the error that has occurred meanwhile. */
  check(): void
  stop(): void
}

/** Reads one reply at a time; the stream is paused in between, so that replies cannot accumulate. */
function readGreeting(stream: Duplex, decoder: ReplyDecoder, options: HandshakeOptions): Greeting {
  let failure: ManagementPortError | null = null
  let settle: (reply: Reply | null) => void = () => undefined
  const fail = (error: ManagementPortError) => {
    failure ??= error
    settle(null)
  }
  const onData = (chunk: Buffer) => {
    const replies = decoder.push(chunk)
    const [reply] = replies
    if (decoder.failure) fail(decoder.failure)
    else if (replies.length > 1 || (reply && !decoder.isBetweenReplies))
      fail(new ManagementPortError('garbled', 'the cache sent more than the handshake has'))
    else if (reply) {
      stream.pause()
      settle(reply)
    }
  }
  const onEnd = () => {
    fail(lost('the cache closed the connection before it was authenticated'))
  }
  const onError = (error: Error) => {
    fail(lost(`the connection failed: ${describeError(error)}`, error))
  }
  const onAbort = () => {
    fail(lost('given up by us before it was authenticated'))
  }
  const limitMs = options.handshakeTimeoutMs ?? defaultHandshakeTimeoutMs
  const timer = setTimeout(() => {
    const reason = `the cache did not authenticate us within ${limitMs} ms`
    fail(new ManagementPortError('timeout', reason, { sent: false }))
  }, limitMs)
  stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError)
  options.signal?.addEventListener('abort', onAbort)
  if (options.signal?.aborted) onAbort()
  const check = () => {
    throwIfAny(failure)
  }
  return {
    check,
    next: async () => {
      check()
      const reply = await new Promise<Reply | null>((resolve) => {
        settle = resolve
        stream.resume()
      })
      check()
      if (reply === null) throw lost('the connection ended')
      return reply
    },
    stop: () => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
      stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError)
      stream.on('error', () => undefined) // the connection sees later failures as the end of the stream
    },
  }
}

function throwIfAny(failure: ManagementPortError | null): void {
  if (failure) throw failure
}

async function readSecret(options: HandshakeOptions): Promise<Buffer> {
  try {
    return await options.secret()
  } catch (error) {
    const reason = `the secret cannot be read: ${describeError(error)}`
    throw new ManagementPortError('auth-refused', reason, { sent: false, cause: error })
  }
}

/** A wrong response gets `500` without a message; if the cache cannot open its secret file, `300` with the reason. */
function authRefusal(verdict: Reply): ManagementPortError {
  const text = replyText(verdict)
  const words = text.trim() === '' ? 'the secret is not the one of this cache' : text.trim()
  if (verdict.status === cliStatus.truncated) {
    const reason = 'the greeting of the cache does not fit into its cli_limit, which must be raised'
    return new ManagementPortError('auth-refused', reason, { status: verdict.status, text })
  }
  const message = `the cache refused our authentication (${verdict.status}): ${words}`
  return new ManagementPortError('auth-refused', message, { status: verdict.status, text })
}

function lost(message: string, cause?: unknown): ManagementPortError {
  return new ManagementPortError('lost', message, { sent: false, cause })
}

/** Node leaves an error's message empty if several addresses failed. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
