/** Why the coordinator closes a link, as the agent sees it (RFC 6455, 7.4; 4000 and above are ours). */
import { FleetError } from '../../errors.js'

export const closeCodes = {
  /** The coordinator stops; another one may be running already. */
  goingAway: 1001,
  /** Malformed or unexpected message, or no hello in time. */
  protocolError: 1002,
  /** The credential is invalid or revoked, or this agent may not connect in its present state. */
  refused: 1008,
  /** The store is unavailable: retry. */
  tryAgain: 1013,
  /** A bug in the coordinator. */
  internalError: 1011,
  /** This agent is already connected. */
  linkedAlready: 4409,
} as const

/** A close frame's reason has at most 123 bytes; a truncated character becomes a replacement character of 3 bytes. */
const reasonLimitBytes = 120

export function cutReason(reason: string): string {
  if (Buffer.byteLength(reason) <= reasonLimitBytes) return reason
  return Buffer.from(reason)
    .subarray(0, reasonLimitBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
}

/** Returns the close code and reason for an agent that could not be admitted. */
export function toEnd(error: unknown): { readonly code: number; readonly reason: string } {
  if (!(error instanceof FleetError))
    return { code: closeCodes.internalError, reason: 'internal error' }
  const isTemporary = error.kind === 'unavailable' || error.kind === 'timed-out'
  return { code: isTemporary ? closeCodes.tryAgain : closeCodes.refused, reason: error.message }
}
