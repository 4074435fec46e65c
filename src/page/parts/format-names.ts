/** Formats the names of caches for a sentence: of many only the first few. */

const maxNamed = 5

export function formatNames(names: readonly string[]): string {
  const rest = names.length - maxNamed
  return names.slice(0, maxNamed).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
