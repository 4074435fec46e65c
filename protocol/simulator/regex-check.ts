/**
 * The mistakes in a regular expression that people make, told as the engine's library tells them (pcre2_error.c).
 * Crude: what it lets pass is not proven to compile.
 */

/** Why the engine would refuse `pattern`; undefined when nothing is seen. */
export function findRegexMistake(pattern: string): string | undefined {
  let depth = 0
  let mayRepeat = false
  for (let at = 0; at < pattern.length;) {
    const item = readItem(pattern, at)
    if ('mistake' in item) return item.mistake
    if (item.kind === 'repeat' && !mayRepeat) return 'quantifier does not follow a repeatable item'
    if (item.kind === 'open') depth++
    if (item.kind === 'close' && --depth < 0) return 'unmatched closing parenthesis'
    mayRepeat = item.kind === 'atom' || item.kind === 'close'
    at = item.end
  }
  return depth > 0 ? 'missing closing parenthesis' : undefined
}

type Item =
  | { readonly kind: 'atom' | 'repeat' | 'open' | 'close' | 'gap'; readonly end: number }
  | { readonly mistake: string }

function readItem(pattern: string, at: number): Item {
  switch (pattern.charAt(at)) {
    case '\\':
      if (at + 1 >= pattern.length) return { mistake: '\\ at end of pattern' }
      return { kind: 'atom', end: at + 2 }
    case '[':
      return readClass(pattern, at)
    case '(':
      return readGroup(pattern, at)
    case ')':
      return { kind: 'close', end: at + 1 }
    case '|':
    case '^':
      return { kind: 'gap', end: at + 1 }
    case '*':
    case '+':
    case '?':
      return readRepeat(pattern, at + 1)
    case '{':
      return readCount(pattern, at)
    default:
      return { kind: 'atom', end: at + 1 }
  }
}

function readClass(pattern: string, start: number): Item {
  let at = start + 1
  if (pattern[at] === '^') at++
  if (pattern[at] === ']') at++
  while (at < pattern.length && pattern[at] !== ']') {
    const named = /^\[:\^?[a-z]+:\]/.exec(pattern.slice(at, at + 16))?.[0].length
    at += named ?? (pattern[at] === '\\' ? 2 : 1)
  }
  if (at >= pattern.length) return { mistake: 'missing terminating ] for character class' }
  return { kind: 'atom', end: at + 1 }
}

function readGroup(pattern: string, at: number): Item {
  const rest = pattern.slice(at, at + 64)
  if (!/^\((?:\?|\*)/.test(rest)) return { kind: 'open', end: at + 1 }
  const inline = /^\(\?[a-zA-Z^-]*\)/.exec(rest)?.[0]
  if (inline !== undefined && /^\(\?[imsxnJU^-]*\)$/.test(inline))
    return { kind: 'gap', end: at + inline.length }
  const opening =
    /^\((?:\?(?:[:|>=!#&+]|<[=!]|(?:P?<\w+>)|'\w+'|[imsxnJU^-]+:|P[=>]|R|\d|-\d|\()|\*)/
  const opened = opening.exec(rest)?.[0]
  // The condition of `(?(1)…)` is a group of its own.
  if (opened !== undefined)
    return { kind: 'open', end: at + opened.length - (opened.endsWith('?(') ? 1 : 0) }
  if (/^\(\?P?[<']/.test(rest))
    return { mistake: 'syntax error in subpattern name (missing terminator?)' }
  return { mistake: 'unrecognized character after (? or (?-' }
}

/** `*?` is lazy and `*+` possessive. */
function readRepeat(pattern: string, end: number): Item {
  return { kind: 'repeat', end: /[?+]/.test(pattern[end] ?? '') ? end + 1 : end }
}

function readCount(pattern: string, at: number): Item {
  const count = /^\{(\d{1,5})(?:,(\d{0,5}))?\}/.exec(pattern.slice(at, at + 16))
  if (count === null) return { kind: 'atom', end: at + 1 }
  const [whole, least, most] = count
  if (most !== undefined && most !== '' && Number(most) < Number(least))
    return { mistake: 'numbers out of order in {} quantifier' }
  return readRepeat(pattern, at + whole.length)
}
