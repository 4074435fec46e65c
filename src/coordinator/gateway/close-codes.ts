/** Why the coordinator closes a link, as the agent sees it (RFC 6455, 7.4; 4000 and above are ours). */
import { FleetError } from '../../errors.js'

export const closeCodes = {
  /** The coordinator stops; another may be there already. */
  goingAway: 1001,
  /** Malformed, out of turn, or no hello in time. */
  protocolError: 1002,
  /** The credential is not or no longer good, or this agent may not come in as it is. */
  refused: 1008,
  /** The store is away: come again. */
  tryAgain: 1013,
  /** A bug here. */
  internalError: 1011,
  /** This agent's link lives already. */
  linkedAlready: 4409,
} as const

/** A close frame's reason has at most 123 bytes; a character that is cut becomes a mark of 3. */
const reasonLimitBytes = 120

export function cutReason(reason: string): string {
  if (Buffer.byteLength(reason) <= reasonLimitBytes) return reason
  return Buffer.from(reason)
    .subarray(0, reasonLimitBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
}

/** How a link ends whose agent could not be let in. */
export function toEnd(error: unknown): { readonly code: number; readonly reason: string } {
  if (!(error instanceof FleetError))
    return { code: closeCodes.internalError, reason: 'internal error' }
  const isTemporary = error.kind === 'unavailable' || error.kind === 'timed-out'
  return { code: isTemporary ? closeCodes.tryAgain : closeCodes.refused, reason: error.message }
}
