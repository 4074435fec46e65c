/** Desired states as messages: the text is composed once for all agents with the same state. */
import { shareMessage, type SharedMessage } from '../../messages/shared-message.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'

interface Desired {
  readonly desired: DesiredEngine
  readonly desiredRevision: number
}

/** Throws MalformedMessage if the state is too long for a message. */
export type WriteApply = (state: Desired, traceId: string) => SharedMessage

/** Serves the states of one query: agents whose state is the same object share one message. */
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
