/** Whether a certificate must be renewed now, with the text for it. */

interface ExpiryNote {
  readonly words: string
  readonly tone: 'warn' | 'bad'
}

/** ACME clients renew 30 days before expiry: with fewer days left than this, renewal has failed for days. */
export const soonDays = 21

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Null: no renewal is due. */
export function judgeExpiry(notAfterMs: number, nowMs: number): ExpiryNote | null {
  const leftMs = notAfterMs - nowMs
  if (leftMs <= 0) return { words: `expired ${formatSpan(-leftMs)} ago`, tone: 'bad' }
  if (leftMs > soonDays * dayMs) return null
  return { words: `expires in ${formatSpan(leftMs)}`, tone: 'warn' }
}

function formatSpan(ms: number): string {
  if (ms >= dayMs) return formatWhole(ms / dayMs, 'day')
  return ms >= hourMs ? formatWhole(ms / hourMs, 'hour') : 'less than an hour'
}

function formatWhole(value: number, unit: string): string {
  const whole = Math.floor(value)
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`
}
