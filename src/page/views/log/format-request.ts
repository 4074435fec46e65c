/** Formats a logged request. Its texts come from clients, so control characters are made harmless. */
import type { LoggedRequest } from '../../../resources/logged-transaction.js'
import { toPrintableLine } from '../../../cli/printable-text.js'
import { unknown } from '../../parts/quantity.js'
import type { Tone } from '../../parts/tone-of-state.js'

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const duration = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })

/** In the browser's time zone, with milliseconds. */
export function formatClock(at: string): string {
  return clock.format(new Date(at))
}

export function formatMoment(at: string): string {
  return `${day.format(new Date(at))}, ${formatClock(at)}`
}

export function formatMs(ms: number | null): string {
  return ms === null ? unknown : `${duration.format(ms)} ms`
}

export function formatText(text: string): string {
  return text === '' ? unknown : toPrintableLine(text)
}

export function formatBackend({ backend }: Pick<LoggedRequest, 'backend'>): string {
  return backend === '-' ? 'none was asked' : formatText(backend)
}

export function toneOfStatus(status: number): Tone {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  if (status >= 300) return 'busy'
  return status >= 200 ? 'good' : 'calm'
}
