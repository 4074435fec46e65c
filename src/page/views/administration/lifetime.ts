/** When something ends, between people (days from now) and the API (seconds since 1970). */

const daySeconds = 86_400

/** Null: the text is not a number of days. */
export function toExpiry(days: string, nowMs: number): number | null {
  const length = Number(days)
  if (days.trim() === '' || !Number.isFinite(length) || length <= 0) return null
  return Math.floor(nowMs / 1000 + length * daySeconds)
}
