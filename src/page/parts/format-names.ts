/** Formats the names of caches for a sentence: of many only the first few. */

const namedMost = 5

export function formatNames(names: readonly string[]): string {
  const rest = names.length - namedMost
  return names.slice(0, namedMost).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
