/** A moment: how long ago or when, in this machine's zone; in UTC when the pointer rests on it. */
import { signal } from '@preact/signals'

interface TimeProps {
  /** ISO 8601, as the API has it. */
  readonly at: string
  /** "3 minutes ago" instead of the date. */
  readonly isAgo?: boolean
  /** "3 minutes": how long since. */
  readonly isDuration?: boolean
  /** Of a duration: "3m", where room is short. */
  readonly isShort?: boolean
}

/** Of this machine; a step every 10 s. */
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

/** As the API has times. */
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

/** The largest unit that fits; clocks that differ a little make no future. */
function measure(at: number, now: number) {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? units[3]
  return { count: Math.floor(seconds / length), unit }
}
