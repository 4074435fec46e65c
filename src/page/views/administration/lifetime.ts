/** Converts an expiry from days from now, as users enter it, to seconds since 1970, as in the API. */

const daySeconds = 86_400

/** Returns null if the text is not a number of days. */
export function toExpiry(days: string, nowMs: number): number | null {
  const length = Number(days)
  if (days.trim() === '' || !Number.isFinite(length) || length <= 0) return null
  return Math.floor(nowMs / 1000 + length * daySeconds)
}
