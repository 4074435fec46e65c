/**
 * Encodes messages as JSON and decodes them. A received message is checked against the schema of its kind; unknown keys are
 * accepted, so that a peer one minor version newer is understood.
 */
import type { TSchema } from 'typebox'
import { describeMismatch, prepareCheck } from '../mismatch.js'
import { agentMessages, type AgentToCoordinator } from './agent-to-coordinator.js'
import { coordinatorMessages, type CoordinatorToAgent } from './coordinator-to-agent.js'
import { messageLimitBytes } from './envelope.js'
import { cutTexts, textLimitBytes } from './texts.js'
import { withoutNul } from './without-nul.js'

/** The text is not a message of this link: no JSON, an unknown kind, a field of the wrong type, or over the limit. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'

  constructor(
    message: string,
    /** Set when only the kind is unknown: a newer peer may send kinds that are unknown here. */
    readonly unknownKind: string | null = null,
  ) {
    super(message)
  }
}

/** Throws MalformedMessage when the text is over `messageLimitBytes`: such an answer is sent by PUT. */
export function encodeMessage(message: AgentToCoordinator | CoordinatorToAgent): string {
  const text = JSON.stringify(message)
  requireFittingText(text, message.kind)
  return text
}

/** `furtherBytes`: added to the text later. Throws MalformedMessage when both are over the limit. */
export function requireFittingText(text: string, kind: string, furtherBytes = 0): void {
  // A UTF-16 unit is at most 3 bytes of UTF-8: counting them is only needed near the limit.
  if (text.length * 3 + furtherBytes <= messageLimitBytes) return
  const bytes = Buffer.byteLength(text) + furtherBytes
  if (bytes > messageLimitBytes)
    throw new MalformedMessage(
      `a message of kind ${kind} is ${bytes} bytes, at most ${messageLimitBytes}`,
    )
}

/** Truncates texts, except in the value of an answer: `judgeAnswer` knows the question. */
export function decodeAgentMessage(text: string): AgentToCoordinator {
  const message = decodeFromAgent(text)
  if (text.length <= textLimitBytes / 3) return message
  const kept = message.kind === 'answer' ? { value: message.value } : {}
  return { ...(cutTexts({ ...message, value: null }) as AgentToCoordinator), ...kept } // of the same form
}

const decodeFromAgent = prepareDecoder<AgentToCoordinator>(agentMessages)
export const decodeCoordinatorMessage = prepareDecoder<CoordinatorToAgent>(coordinatorMessages)

function prepareDecoder<Message extends { readonly kind: string }>(
  schemas: Readonly<Record<Message['kind'], TSchema>>,
): (text: string) => Message {
  const checks = new Map(
    Object.entries<TSchema>(schemas).map(([kind, schema]) => [kind, prepareCheck(schema)]),
  )
  return (text) => decode(text, checks) as Message // the schema of its kind fits
}

function decode(text: string, checks: ReadonlyMap<string, ReturnType<typeof prepareCheck>>) {
  if (text.length > messageLimitBytes)
    throw new MalformedMessage(`a message is over ${messageLimitBytes} bytes`)
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedMessage('a message is a JSON object')
  const kind: unknown = Reflect.get(value, 'kind')
  if (typeof kind !== 'string') throw new MalformedMessage('a message has a kind, a text')
  const findMismatch = checks.get(kind)
  if (!findMismatch) {
    const shown = kind.slice(0, 64)
    throw new MalformedMessage(`messages of kind ${JSON.stringify(shown)} are not known`, shown)
  }
  const mismatch = findMismatch(value)
  if (mismatch) throw new MalformedMessage(`${kind}: ${describeMismatch(mismatch)}`)
  // Names with U+0000 were refused.
  return withoutNul(text, value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedMessage('a message is not JSON')
  }
}
