/** A message to many agents: it is encoded once, and each link adds its own sequence. */
import { requireFittingText } from './codec.js'
import type { CoordinatorToAgent } from './coordinator-to-agent.js'

export interface SharedMessage {
  /** JSON without the sequence and the last brace. */
  readonly start: string
}

type Unsent<Message extends CoordinatorToAgent> = Message extends CoordinatorToAgent
  ? Omit<Message, 'sequence'>
  : never

const sequenceBytes = ',"sequence":}'.length + String(Number.MAX_SAFE_INTEGER).length

/** Throws MalformedMessage when the message would be over `messageLimitBytes`. */
export function shareMessage(message: Unsent<CoordinatorToAgent>): SharedMessage {
  const start = JSON.stringify(message).slice(0, -1)
  requireFittingText(start, message.kind, sequenceBytes)
  return { start }
}

export function encodeShared({ start }: SharedMessage, sequence: number): string {
  return `${start},"sequence":${sequence}}`
}
