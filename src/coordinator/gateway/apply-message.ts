/** Desired states as messages: the text is made once for all agents that hold the same. */
import { shareMessage, type SharedMessage } from '../../messages/shared-message.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'

interface Desired {
  readonly desired: DesiredEngine
  readonly desiredRevision: number
}

/** Throws MalformedMessage when it is too long for a message. */
export type WriteApply = (state: Desired, traceId: string) => SharedMessage

/** For the states of one reading: those that are one object are told alike. */
export function createApplyWriter(): WriteApply {
  const written = new Map<DesiredEngine, Map<string, SharedMessage>>()
  return ({ desired, desiredRevision: revision }, traceId) => {
    const ofState = written.get(desired) ?? new Map<string, SharedMessage>()
    written.set(desired, ofState)
    const key = `${revision} ${traceId}`
    const message = ofState.get(key) ?? shareMessage({ kind: 'apply', traceId, revision, desired })
    ofState.set(key, message)
    return message
  }
}
