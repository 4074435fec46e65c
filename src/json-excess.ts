/**
 * JSON that should not even be parsed: each member takes time that nobody else gets, and memory many times its own length; what is
 * nested deep cannot be written again.
 */

export interface JsonLimits {
  /** Of objects and arrays within each other. */
  readonly depth: number
  /** Of all objects and arrays together, themselves included. */
  readonly members: number
  /** Of one object: many different keys take ten times as long as the members of a list. */
  readonly keys: number
}

/** What a byte outside of strings is; all others are passed over. */
const kinds = new Uint8Array(256)
const quote = 1
const open = 2
const close = 3
const comma = 4
for (const [kind, characters] of [
  [quote, '"'],
  [open, '{['],
  [close, '}]'],
  [comma, ','],
] as const)
  for (const character of characters) kinds[character.charCodeAt(0)] = kind
const backslash = 0x5c
const brace = 0x7b

/** Of what is read in one go. */
export interface PartLimits {
  readonly bytes: number
  readonly members: number
}

/** Counts brackets and commas outside of strings, before anything is allocated for them. Null: nothing is too much. */
export function findJsonExcess(bytes: Uint8Array, limits: JsonLimits): string | null {
  const { value } = scanJson(bytes, limits, { bytes: Infinity, members: Infinity }).next()
  return typeof value === 'number' ? null : value
}

/**
 * Answers what `findJsonExcess` does. Yields where the outermost list may be parted: at its own commas, each `afterBytes` or more behind
 * the one before. A part over its limits is an excess, too.
 */
export function* scanJson(
  bytes: Uint8Array,
  limits: JsonLimits,
  part: PartLimits,
  afterBytes = Infinity,
): Generator<number, string | null, void> {
  let depth = 0
  let members = 0
  let partMembers = 0
  let stopAt = Math.min(bytes.length, part.bytes)
  let partFrom = 0
  /** Of the objects that are open, by their depth; -1 is a list. */
  const keys = [-1]
  for (let at = 0; at < stopAt; at++) {
    const byte = bytes[at] ?? 0
    const kind = kinds[byte]
    if (kind === 0) continue
    if (kind === quote) at = endOfString(bytes, at + 1, stopAt)
    else if (kind === close) depth = Math.max(0, depth - 1)
    if (kind === quote || kind === close) continue
    if (kind === open) keys[++depth] = byte === brace ? 1 : -1
    const excess = findExcess(limits, ++members, depth, kind === open ? 0 : countKey(keys, depth))
    if (excess !== null) return excess
    if (++partMembers > part.members)
      return `has over ${part.members} members within one of its list`
    if (kind !== open && depth === 1 && keys[1] === -1 && at - partFrom >= afterBytes) {
      yield at
      ;[partFrom, partMembers] = [at, 0]
      stopAt = Math.min(bytes.length, at + part.bytes)
    }
  }
  return stopAt < bytes.length
    ? `is over ${part.bytes} bytes, and no list of smaller members`
    : null
}

function findExcess(
  limits: JsonLimits,
  members: number,
  depth: number,
  keyCount: number,
): string | null {
  if (members > limits.members)
    return `has over ${limits.members} members in its objects and arrays`
  if (depth > limits.depth) return `is nested deeper than ${limits.depth} objects and arrays`
  return keyCount > limits.keys ? `has an object of over ${limits.keys} members` : null
}

/** Behind a comma; -1 in a list. */
function countKey(keys: number[], depth: number): number {
  const count = keys[depth] ?? -1
  if (count > 0) keys[depth] = count + 1
  return count > 0 ? count + 1 : -1
}

/** The index of the quote that ends the string; `stopAt` when there is none before. */
function endOfString(bytes: Uint8Array, from: number, stopAt: number): number {
  for (let at = from; at < stopAt; at++) {
    const byte = bytes[at]
    if (byte === 0x22) return at
    if (byte === backslash) at++
  }
  return stopAt
}
