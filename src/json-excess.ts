/**
 * Detects JSON that should not be parsed: each member blocks the event loop and takes many times its length in memory; deeply
 * nested values cannot be serialized again.
 */

export interface JsonLimits {
  /** The maximum nesting of objects and arrays. */
  readonly depth: number
  /** The maximum number of members of all objects and arrays together, including the objects and arrays themselves. */
  readonly members: number
  /** The maximum number of keys of one object: many different keys take ten times as long as the members of a list. */
  readonly keys: number
}

/** The kind of each byte outside strings; 0: skipped. */
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

/** Limits of a part that is parsed at once. */
export interface PartLimits {
  readonly bytes: number
  readonly members: number
}

/** Counts brackets and commas outside strings, before anything is allocated for them. Null: within all limits. */
export function findJsonExcess(bytes: Uint8Array, limits: JsonLimits): string | null {
  const { value } = scanJson(bytes, limits, { bytes: Infinity, members: Infinity }).next()
  return typeof value === 'number' ? null : value
}

/**
 * Returns the same as `findJsonExcess`. Yields where the outermost list may be split: at its own commas, at least `afterBytes`
 * apart. A part over its limits is an excess, too.
 */
export function* scanJson(
  bytes: Uint8Array,
  limits: JsonLimits,
  part: PartLimits,
  afterBytes = Infinity,
): Generator<number, string | null, void> {
  const count = new MemberCount(limits)
  let stopAt = Math.min(bytes.length, part.bytes)
  let [partFrom, membersBefore] = [0, 0]
  for (let at = 0; at < stopAt; at++) {
    const byte = bytes[at] ?? 0
    const kind = kinds[byte]
    if (kind === quote) at = endOfString(bytes, at + 1, stopAt)
    if (kind === 0 || kind === quote) continue
    const excess = count.add(kind, byte)
    if (excess !== null) return excess
    if (count.members - membersBefore > part.members)
      return `has over ${part.members} members within one of its list`
    if (at - partFrom < afterBytes || !count.isBetweenRows) continue
    yield at
    ;[partFrom, membersBefore] = [at, count.members]
    stopAt = Math.min(bytes.length, at + part.bytes)
  }
  return stopAt < bytes.length
    ? `is over ${part.bytes} bytes, and no list of smaller members`
    : null
}

/** Counts what was read so far. */
class MemberCount {
  readonly #limits: JsonLimits
  /** The key counts of the open objects, by depth; -1: a list. */
  readonly #keys = [-1]
  #depth = 0
  #isComma = false
  members = 0

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /** Whether the last byte was a comma of the outermost list. */
  get isBetweenRows(): boolean {
    return this.#isComma && this.#depth === 1 && this.#keys[1] === -1
  }

  /** Returns which limit is exceeded; null: none. */
  add(kind: number | undefined, byte: number): string | null {
    const { members, depth, keys } = this.#limits
    this.#isComma = kind === comma
    if (kind === close) {
      this.#depth = Math.max(0, this.#depth - 1)
      return null
    }
    this.members += 1
    if (this.members > members) return `has over ${members} members in its objects and arrays`
    if (kind === comma)
      return this.#countKey() > keys ? `has an object of over ${keys} members` : null
    this.#depth += 1
    if (this.#depth > depth) return `is nested deeper than ${depth} objects and arrays`
    this.#keys[this.#depth] = byte === brace ? 1 : -1
    return null
  }

  /** -1 in a list. */
  #countKey(): number {
    const count = this.#keys[this.#depth] ?? -1
    if (count > 0) this.#keys[this.#depth] = count + 1
    return count > 0 ? count + 1 : -1
  }
}

/** The index of the quote that ends the string; `stopAt` when there is none before it. */
function endOfString(bytes: Uint8Array, from: number, stopAt: number): number {
  for (let at = from; at < stopAt; at++) {
    const byte = bytes[at]
    if (byte === 0x22) return at
    if (byte === backslash) at++
  }
  return stopAt
}
