/** Encodes replies for the wire, whole or spoiled by a fault. */
import { cliStatus } from '../status.js'
import type { FaultName } from './faults.js'
import { encodeHeader, encodeReply, type ReplyText } from './reply-text.js'

export interface Outgoing {
  readonly bytes: Buffer
  /** What happens to the connection after these bytes. */
  readonly then: 'go-on' | 'close' | 'silence'
}

/** A status that no release uses. */
const unknownStatus = 299
const hugeLengthBytes = 99_999_999

export function encodeOutgoing(reply: ReplyText, fault: FaultName | undefined): Outgoing {
  const spoil = fault === undefined ? undefined : spoilers[fault]
  const then = reply.closes ? 'close' : 'go-on'
  return { then, ...(spoil?.(reply) ?? { bytes: encodeReply(reply.status, reply.text) }) }
}

type Spoil = (reply: ReplyText) => Pick<Outgoing, 'bytes'> & Partial<Outgoing>

const spoilers: Readonly<Partial<Record<FaultName, Spoil>>> = {
  'wrong-status': ({ text }) => ({ bytes: encodeReply(unknownStatus, text) }),
  'garbled-header': ({ text }) => ({
    bytes: Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${text}\n`, 'latin1'),
  }),
  'half-header': ({ status, text }) => ({
    bytes: encodeReply(status, text).subarray(0, 6),
    then: 'silence',
  }),
  'half-body': (reply) => ({ bytes: cutBody(reply), then: 'silence' }),
  'huge-length': ({ status, text }) => ({
    bytes: Buffer.from(`${encodeHeader(status, hugeLengthBytes)}${text}\n`, 'latin1'),
    then: 'silence',
  }),
  'close-in-mid-reply': (reply) => ({ bytes: cutBody(reply), then: 'close' }),
  'close-before-reply': () => ({ bytes: Buffer.alloc(0), then: 'close' }),
  'truncated-reply': ({ text }) => ({
    bytes: encodeReply(cliStatus.truncated, text.slice(0, Math.trunc(text.length / 2))),
  }),
  'extra-reply': ({ status, text }) => {
    const whole = encodeReply(status, text)
    return { bytes: Buffer.concat([whole, whole]) }
  },
}

/** The header and half of the body, without the final LF. */
function cutBody({ status, text }: ReplyText): Buffer {
  const half = text.slice(0, Math.trunc(text.length / 2))
  return Buffer.from(`${encodeHeader(status, text.length)}${half}`, 'latin1')
}
