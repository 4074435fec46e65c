/** JSON text on the agent link: the limits, the sequence and the trace id that every message has. */
import { Type } from 'typebox'
import { matching, whole } from '../resources/json-fields.js'

export const agentLinkPath = '/agent/v1'
export const agentLinkSubprotocol = 'cachefleet.agent.v1'

/** Messages may be 1 MiB; a larger answer goes by PUT /agent/v1/answers/{sequence}. */
export const messageLimitBytes = 1 << 20
/** A reply of the management port, and so an answer, is capped at 64 MiB (docs/behaviour.md, Failing). */
export const answerLimitBytes = 64 << 20
/** Agents' messages are flat; a hundred thousand bans have a few members each. */
export const agentJsonLimits = { depth: 64, members: 1_000_000, keys: 10_000 }
/** What of an answer is read in one go: all but lists, which are read by their members. A VCL may have 2 MiB, and twice that escaped. */
export const answerPartLimits = { bytes: 5 << 20, members: 100_000 }
/** Of one message: a report of ten thousand failures has half as many. */
export const messageJsonLimits = { ...agentJsonLimits, members: 100_000 }

/** What every message of a kind has. */
export function envelope<Kind extends string>(kind: Kind) {
  return {
    kind: Type.Literal(kind),
    /** Counts the messages of one side of one link from 1; a gap asks for the full state. */
    sequence: whole(1),
    traceId: matching(/^[A-Za-z0-9_-]{8,64}$/, '8 to 64 of letters, digits, dash and underscore'),
  }
}
