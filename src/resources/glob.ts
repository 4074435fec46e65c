/** Matches names against patterns with wildcards. */

/** `wanted`: letters; `*` matches any text, `?` one letter. Takes at most the product of both lengths, unlike a regular expression. */
export function matchesGlob(wanted: readonly string[], text: string): boolean {
  const letters = Array.from(text)
  let at = 0
  let from = 0
  /** The position after the last `*`, and the first letter that it does not match. */
  let again: readonly [number, number] | null = null
  while (from < letters.length) {
    const one = wanted[at]
    if (one === '*') {
      at += 1
      again = [at, from]
    } else if (one === '?' || (one !== undefined && one === letters[from])) {
      at += 1
      from += 1
    } else if (again) {
      again = [again[0], again[1] + 1]
      ;[at, from] = again
    } else return false
  }
  return wanted.slice(at).every((one) => one === '*')
}
