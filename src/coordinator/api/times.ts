/** Times as the APIs print them. */

export function toTimes(times: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created: toIso(times.createdAt), updated: toIso(times.updatedAt) }
}

/** Printing a time costs ten times what finding it does, and the same few times are printed again and again. */
const printedTimes = new Map<number, string>()
const printedTimesMost = 20_000

/** Milliseconds since 1970, as the API writes times. */
export function toIso(at: number): string {
  const known = printedTimes.get(at)
  if (known !== undefined) return known
  if (printedTimes.size >= printedTimesMost) printedTimes.clear()
  const printed = new Date(at).toISOString()
  printedTimes.set(at, printed)
  return printed
}
