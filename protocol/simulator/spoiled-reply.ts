/** Replies on the wire, whole or spoiled by a fault. */
import { cliStatus } from '../status.js'
import type { FaultName } from './faults.js'
import { encodeHeader, encodeReply, type ReplyText } from './reply-text.js'

export interface Outgoing {
  readonly bytes: Buffer
  /** What becomes of the connection behind these bytes. */
  readonly then: 'go-on' | 'close' | 'silence'
}

/** Chosen by us: no release knows this status. */
const unknownStatus = 299
const hugeLengthBytes = 99_999_999

export function encodeOutgoing(reply: ReplyText, fault: FaultName | undefined): Outgoing {
  const whole = encodeReply(reply.status, reply.text)
  const then = reply.closes ? 'close' : 'go-on'
  switch (fault) {
    case 'wrong-status':
      return { bytes: encodeReply(unknownStatus, reply.text), then }
    case 'garbled-header':
      return { bytes: Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${reply.text}\n`, 'latin1'), then }
    case 'half-header':
      return { bytes: whole.subarray(0, 6), then: 'silence' }
    case 'half-body':
      return { bytes: cutBody(reply), then: 'silence' }
    case 'huge-length': {
      const text = `${encodeHeader(reply.status, hugeLengthBytes)}${reply.text}\n`
      return { bytes: Buffer.from(text, 'latin1'), then: 'silence' }
    }
    case 'close-in-mid-reply':
      return { bytes: cutBody(reply), then: 'close' }
    case 'close-before-reply':
      return { bytes: Buffer.alloc(0), then: 'close' }
    case 'truncated-reply': {
      const half = reply.text.slice(0, Math.trunc(reply.text.length / 2))
      return { bytes: encodeReply(cliStatus.truncated, half), then }
    }
    case 'extra-reply':
      return { bytes: Buffer.concat([whole, whole]), then }
    default:
      return { bytes: whole, then }
  }
}

/** The header, half of the body, and never the last LF. */
function cutBody({ status, text }: ReplyText): Buffer {
  const half = text.slice(0, Math.trunc(text.length / 2))
  return Buffer.from(`${encodeHeader(status, text.length)}${half}`, 'latin1')
}
