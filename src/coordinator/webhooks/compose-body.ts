/** Composes the body of a webhook, the event's object or one line for Slack, and its signature. Pure. */
import { createHmac } from 'node:crypto'
import type { WebhookFormat } from '../../resources/webhook.js'
import { describeEvent } from './describe-event.js'

export interface Message {
  /** The same for every attempt. */
  readonly id: number
  readonly type: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** JSON of the event's object. */
  readonly data: string
}

/** Slack accepts 40,000 characters; longer texts than this are of no use to readers. */
const maxTextLength = 2_000

export function composeBody({ id, type, at, data }: Message, format: WebhookFormat): string {
  if (format === 'slack') {
    const text = neutralizeText(describeEvent(type, JSON.parse(data)))
    return JSON.stringify({ text })
  }
  const head = JSON.stringify({ id, type, at: new Date(at).toISOString() }).slice(0, -1)
  return `${head},"data":${data}}`
}

/**
 * Names are user input: they must not notify a channel (`<!channel>`), hide a link, or start a line. Slack treats only `&`, `<` and
 * `>` as control characters.
 */
function neutralizeText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
  const short = line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line
  return short.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `X-Cachefleet-Signature`: includes the time, to prevent replays. */
export function signBody(body: string, secret: string, atSeconds: number): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')
  return `t=${atSeconds},v1=${digest}`
}
