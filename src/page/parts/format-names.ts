/** Names of caches in a sentence: the first few of many. */

const namedMost = 5

export function formatNames(names: readonly string[]): string {
  const rest = names.length - namedMost
  return names.slice(0, namedMost).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
