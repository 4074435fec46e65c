/** Wraps an agent's WebSocket as a stream of validated messages, with sequence numbers, limits and a clean close. */
import type { RawData, WebSocket } from 'ws'
import { findJsonExcess } from '../../json-excess.js'
import { FleetError } from '../../errors.js'
import type { AgentToCoordinator } from '../../messages/agent-to-coordinator.js'
import { decodeAgentMessage, encodeMessage, MalformedMessage } from '../../messages/codec.js'
import type { CoordinatorToAgent } from '../../messages/coordinator-to-agent.js'
import { messageJsonLimits } from '../../messages/envelope.js'
import { encodeShared, type SharedMessage } from '../../messages/shared-message.js'
import { closeCodes, cutReason } from './close-codes.js'

type Unsent<Message extends CoordinatorToAgent = CoordinatorToAgent> =
  Message extends CoordinatorToAgent ? Omit<Message, 'sequence'> : never

export interface LinkReceiver {
  /** May throw MalformedMessage, which ends the link. */
  take(message: AgentToCoordinator): void
  /** Returns true if a message of this unknown kind is to be ignored. */
  ignores(kind: string): boolean
  /** Called once when the link ends from either side; no messages follow. */
  left(reason: string, code: number): void
}

/** A pong within this time shows that the link is alive. */
const pongTimeoutMs = 2000
/** An agent that does not read is disconnected above this limit; a message has at most 1 MiB. */
const unsentLimitBytes = 8 << 20
/**
 * An agent sends a few messages a minute, answers at most 64 questions at a time, and reports single invalidations one by one:
 * hundreds a second in a burst. Each message may cost a query of the store, and each ping a pong that is buffered until it is read.
 */
const maxFrames = 5_000
const framesWindowMs = 10_000
/** 32 answers of the largest size; parsing them blocks the event loop. */
const maxBytes = 32 << 20
/** A peer that does not answer a close frame is disconnected. */
const closeTimeoutMs = 1000

export class LinkSocket {
  readonly #socket: WebSocket
  readonly #receiver: LinkReceiver
  #isOpen = true
  #sent = 0
  #receivedAtMs = performance.now()
  #framesSinceMs = performance.now()
  #frames = 0
  #bytes = 0

  constructor(socket: WebSocket, receiver: LinkReceiver) {
    this.#socket = socket
    this.#receiver = receiver
    let why = ''
    socket.on('message', (data, isBinary) => {
      if (this.#isOpen && this.#countFrame(sizeOf(data))) this.#receive(data, isBinary)
    })
    socket.on('ping', () => this.#countFrame())
    socket.on('pong', () => {
      this.#receivedAtMs = performance.now()
      this.#countFrame()
    })
    socket.on('error', (error) => (why = error.message))
    socket.on('close', (code, reason) => {
      this.#leave(why || reason.toString() || 'closed by the agent', code)
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** By the monotonic clock. */
  get lastReceivedAtMs(): number {
    return this.#receivedAtMs
  }

  /** Returns the sequence, null if the link is closing. Throws MalformedMessage if the message is too large. */
  send(message: Unsent | SharedMessage): number | null {
    if (!this.#isOpen || this.#socket.readyState !== this.#socket.OPEN) return null
    if (this.#socket.bufferedAmount > unsentLimitBytes) {
      this.cutOff(`the agent does not read: over ${unsentLimitBytes} bytes wait`)
      return null
    }
    const sequence = this.#sent + 1
    const text =
      'start' in message ? encodeShared(message, sequence) : encodeMessage({ ...message, sequence })
    this.#sent = sequence
    this.#socket.send(text)
    return sequence
  }

  /** Closes with a close frame. Resources of the session are released at once. */
  end(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.#leave(reason, code)
    this.#socket.close(code, cutReason(reason))
    setTimeout(() => {
      this.#socket.terminate()
    }, closeTimeoutMs).unref()
  }

  /** Terminates the link of an absent peer, which would not read a close frame. */
  cutOff(reason: string): void {
    this.#leave(reason, closeCodes.goingAway)
    this.#socket.terminate()
  }

  /** Rejects if the agent does not respond; the link then ends, so that the agent can connect again. */
  async proveAlive(): Promise<{ readonly alive: true }> {
    if (await this.#isAnswering()) return { alive: true }
    this.cutOff('the agent did not answer a ping')
    throw new FleetError('unavailable', 'agent', 'the agent did not answer a ping')
  }

  async #isAnswering(): Promise<boolean> {
    if (!this.#isOpen || this.#socket.readyState !== this.#socket.OPEN) return false
    return new Promise((resolve) => {
      const finish = (isAnswering: boolean): void => {
        clearTimeout(late)
        this.#socket.off('pong', answered)
        resolve(isAnswering)
      }
      const answered = (): void => {
        finish(true)
      }
      const late = setTimeout(finish, pongTimeoutMs, false)
      this.#socket.on('pong', answered)
      this.#socket.ping()
    })
  }

  /** Returns false, and ends the link, if the frame exceeds a limit. */
  #countFrame(sizeBytes = 0): boolean {
    const now = performance.now()
    if (now - this.#framesSinceMs > framesWindowMs) {
      this.#framesSinceMs = now
      this.#frames = 0
      this.#bytes = 0
    }
    this.#frames += 1
    this.#bytes += sizeBytes
    if (this.#frames <= maxFrames && this.#bytes <= maxBytes) return true
    const what = this.#frames > maxFrames ? `${maxFrames} frames` : `${maxBytes} bytes`
    this.end(closeCodes.protocolError, `over ${what} in ${framesWindowMs} ms`)
    return false
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#receivedAtMs = performance.now()
    try {
      if (isBinary || !Buffer.isBuffer(data)) throw new MalformedMessage('a message is text')
      const excess = findJsonExcess(data, messageJsonLimits)
      if (excess !== null) throw new MalformedMessage(`a message ${excess}`)
      this.#receiver.take(decodeAgentMessage(data.toString('utf8')))
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      if (error.unknownKind !== null && this.#receiver.ignores(error.unknownKind)) return
      this.end(closeCodes.protocolError, error.message)
    }
  }

  #leave(reason: string, code: number): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#receiver.left(reason, code)
  }
}

/** A message arrives as one buffer; anything else is refused. */
function sizeOf(data: RawData): number {
  return Buffer.isBuffer(data) ? data.length : 0
}
