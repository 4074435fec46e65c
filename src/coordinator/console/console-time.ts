/** Console time format: `yyyy-MM-ddTHH:mm+0200`, in the time zone of this host (docs/behaviour.md, Console). */

/** `at`: milliseconds since 1970. */
export function toConsoleTime(at: number): string {
  const minutesAhead = -new Date(at).getTimezoneOffset()
  const local = new Date(at + minutesAhead * 60_000).toISOString().slice(0, 16)
  const sign = minutesAhead < 0 ? '-' : '+'
  const ahead = Math.abs(minutesAhead)
  return `${local}${sign}${twoDigits(Math.floor(ahead / 60))}${twoDigits(ahead % 60)}`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
