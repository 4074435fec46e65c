/** Messages on the agent link are JSON text: their limits, and the sequence and trace id of every message. */
import { Type } from 'typebox'
import { matching, whole } from '../resources/json-fields.js'

export const agentLinkPath = '/agent/v1'
export const agentLinkSubprotocol = 'cachefleet.agent.v1'

/** A message may have 1 MiB; a larger answer is sent by PUT /agent/v1/answers/{sequence}. */
export const messageLimitBytes = 1 << 20
/** A reply of the management port, and therefore an answer, is limited to 64 MiB (docs/behaviour.md, Failing). */
export const answerLimitBytes = 64 << 20
/** Messages of agents are flat; a hundred thousand bans have a few members each. */
export const agentJsonLimits = { depth: 64, members: 1_000_000, keys: 10_000 }
/** The part of an answer parsed at once: some members of a list, or the whole. A VCL may have 2 MiB, twice that when escaped. */
export const answerPartLimits = { bytes: 5 << 20, members: 100_000 }
/** Limits of one message: a report of ten thousand failures has half as many members. */
export const messageJsonLimits = { ...agentJsonLimits, members: 100_000 }

/** The fields that every message has. */
export function envelope<Kind extends string>(kind: Kind) {
  return {
    kind: Type.Literal(kind),
    /** Counts the messages of one side of one link from 1; a gap asks for the full state. */
    sequence: whole(1),
    traceId: matching(/^[A-Za-z0-9_-]{8,64}$/, '8 to 64 of letters, digits, dash and underscore'),
  }
}
