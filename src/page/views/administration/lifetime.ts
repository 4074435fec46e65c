/** When something ends, between people (days from now) and the API (seconds since 1970). */

const daySeconds = 86_400

/** ISO 8601, as `<Time>` takes it. */
export function toIso(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString()
}

/** Null: the text is no number of days. */
export function toExpiry(days: string, nowMs: number): number | null {
  const length = Number(days)
  if (days.trim() === '' || !Number.isFinite(length) || length <= 0) return null
  return Math.floor(nowMs / 1000 + length * daySeconds)
}
