/** A time, relative or absolute in the browser's time zone; the tooltip shows UTC. */
import { signal } from '@preact/signals'

interface TimeProps {
  /** ISO 8601, as in the API. */
  readonly at: string
  /** Shows "3 minutes ago" instead of the date. */
  readonly isAgo?: boolean
  /** Shows the time since then: "3 minutes". */
  readonly isDuration?: boolean
  /** Shortens a duration to "3m", for narrow places. */
  readonly isShort?: boolean
}

/** The browser's clock, updated every 10 s. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 10_000)

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

export function Time({ at, isAgo = false, isDuration = false, isShort = false }: TimeProps) {
  const moment = new Date(at)
  const utc = `${moment.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  return (
    <time
      dateTime={at}
      title={isAgo || isDuration ? `${local.format(moment)} · ${utc}` : utc}
      class="time"
    >
      {isAgo
        ? formatAgo(moment.getTime(), now.value)
        : isDuration
          ? formatDuration(moment.getTime(), now.value, isShort)
          : local.format(moment)}
    </time>
  )
}

/** Formats a time as the API does. */
export function toIso(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString()
}

function formatAgo(at: number, now: number): string {
  const { count, unit } = measure(at, now)
  return ago.format(-count, unit)
}

function formatDuration(at: number, now: number, isShort: boolean): string {
  const { count, unit } = measure(at, now)
  const unitDisplay = isShort ? 'narrow' : 'long'
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay }).format(count)
}

/** Uses the largest unit that fits; small clock differences do not show future times. */
function measure(at: number, now: number) {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? units[3]
  return { count: Math.floor(seconds / length), unit }
}
