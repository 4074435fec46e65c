/** fnmatch(3) without flags, for names of programs and backends. */

/** True if the whole `name` matches `pattern`: `*`, `?`, `[a-z]`, `[!a]`, `\` before a literal. */
export function matchesGlob(pattern: string, name: string): boolean {
  const parts = parseGlob(pattern)
  let part = 0
  let at = 0
  // The last star and the end of its match: only the last star is ever extended, so the time stays quadratic.
  let star = -1
  let swallowedTo = 0
  while (at < name.length) {
    const fits = parts[part]
    if (fits === anything) {
      star = part++
      swallowedTo = at
    } else if (typeof fits === 'function' && fits(name[at] ?? '')) {
      part++
      at++
    } else if (star >= 0) {
      part = star + 1
      at = ++swallowedTo
    } else return false
  }
  return parts.slice(part).every((rest) => rest === anything)
}

const anything = Symbol('*')
type Part = typeof anything | ((character: string) => boolean)

function parseGlob(pattern: string): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? ''
    const bracket = character === '[' ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(at)) : null
    if (character === '*') parts.push(anything)
    else if (character === '?') parts.push(() => true)
    else if (bracket !== null) {
      const [whole, not, members = ''] = bracket
      parts.push((candidate) => isMember(members, candidate) === (not === ''))
      at += whole.length - 1
    } else {
      const literal = character === '\\' && at + 1 < pattern.length ? pattern[++at] : character
      parts.push((candidate) => candidate === literal)
    }
  }
  return parts
}

function isMember(members: string, candidate: string): boolean {
  for (let at = 0; at < members.length; at++) {
    const first = members[at] ?? ''
    const last = members[at + 1] === '-' ? members[at + 2] : undefined
    if (candidate >= first && candidate <= (last ?? first)) return true
    if (last !== undefined) at += 2
  }
  return false
}
