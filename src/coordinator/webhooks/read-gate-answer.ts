/** Reads a webhook's verdict on a rollout from its response; anything but a well-formed verdict is inconclusive. Pure. */
import type { WebhookAnswer } from '../rollouts/judge-gates.js'
import type { Attempt } from './delivery-queries.js'

const maxReasonLength = 500
const expected = 'expected {"verdict": "pass" | "fail" | "wait", "reason": text}'

const verdicts = { pass: 'pass', fail: 'fail', wait: 'inconclusive' } as const

export function readGateAnswer({ isDelivered, answer, error }: Attempt): WebhookAnswer {
  if (!isDelivered) return inconclusive(error ?? 'it did not answer')
  const { verdict, reason } = parseFields(answer ?? '')
  if (typeof verdict !== 'string' || !Object.hasOwn(verdicts, verdict))
    return inconclusive(`its answer has no verdict; ${expected}`)
  const given = typeof reason === 'string' ? cleanText(reason) : null
  return {
    verdict: verdicts[verdict as keyof typeof verdicts], // checked above
    reason: given ?? (verdict === 'pass' ? null : `it answered ${verdict}`),
  }
}

/** Returns the reason in one line, as users see it. Null: nothing is left. */
function cleanText(text: string): string | null {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
  return line === '' ? null : line.slice(0, maxReasonLength)
}

function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function inconclusive(reason: string): WebhookAnswer {
  return { verdict: 'inconclusive', reason }
}
