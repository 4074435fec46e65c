/**
 * Finds common mistakes in regular expressions and reports them in the words of the engine's library (pcre2_error.c). It is a rough check:
 * a pattern that passes may still not compile.
 */

/** Returns why the engine would refuse `pattern`; undefined if no mistake is found. */
export function findRegexMistake(pattern: string): string | undefined {
  let depth = 0
  let mayRepeat = false
  for (let at = 0; at < pattern.length;) {
    const { kind, end } = readItem(pattern, at)
    if (kind === 'repeat' && !mayRepeat) return 'quantifier does not follow a repeatable item'
    if (kind === 'open') depth++
    if (kind === 'close' && --depth < 0) return 'unmatched closing parenthesis'
    if (!kinds.has(kind)) return kind
    mayRepeat = kind === 'atom' || kind === 'close'
    at = end
  }
  return depth > 0 ? 'missing closing parenthesis' : undefined
}

const kinds: ReadonlySet<string> = new Set(['atom', 'repeat', 'open', 'close', 'gap'])

/** Forms of an item and their kinds; the first match applies. Any other kind is an error message. */
const items: readonly (readonly [form: RegExp, kind: string])[] = [
  [/\\[^]/y, 'atom'],
  [/\\/y, '\\ at end of pattern'],
  [
    /\[(?:\^|(?!\^))(?:\]|(?!\]))(?:\[:\^?[a-z]{1,14}:\]|\\[^]|\[(?!:\^?[a-z]{1,14}:\])|[^\]\\[])*\]/y,
    'atom',
  ],
  [/\[/y, 'missing terminating ] for character class'],
  [/\(\?[imsxnJU^-]*\)/y, 'gap'],
  // The condition of `(?(1)…)` is a group of its own.
  [/\((?:\?(?:[:|>=!#&+]|<[=!]|P?<\w+>|'\w+'|[imsxnJU^-]+:|P[=>]|R|-?\d|(?=\())|\*)/y, 'open'],
  [/\(\?P?[<']/y, 'syntax error in subpattern name (missing terminator?)'],
  [/\(\?/y, 'unrecognized character after (? or (?-'],
  [/\(/y, 'open'],
  [/\)/y, 'close'],
  [/[|^]/y, 'gap'],
  // `*?` is lazy and `*+` possessive.
  [/(?:[*+?]|\{(\d{1,5})(?:,(\d{0,5}))?\})[?+]?/y, 'repeat'],
]

function readItem(pattern: string, at: number): { readonly kind: string; readonly end: number } {
  for (const [form, kind] of items) {
    form.lastIndex = at
    const [whole, least, most] = form.exec(pattern) ?? []
    if (whole === undefined) continue
    const isOutOfOrder = most !== undefined && most !== '' && Number(most) < Number(least)
    return {
      kind: isOutOfOrder ? 'numbers out of order in {} quantifier' : kind,
      end: at + whole.length,
    }
  }
  return { kind: 'atom', end: at + 1 }
}
