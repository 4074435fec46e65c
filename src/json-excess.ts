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

/** Of all that was read so far. */
class MemberCount {
  readonly #limits: JsonLimits
  /** Of the objects that are open, by their depth; -1 is a list. */
  readonly #keys = [-1]
  #depth = 0
  #isComma = false
  members = 0

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /** What was read last is a comma of the outermost list. */
  get isBetweenRows(): boolean {
    return this.#isComma && this.#depth === 1 && this.#keys[1] === -1
  }

  /** Answers what is too much. */
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

/** The index of the quote that ends the string; `stopAt` when there is none before. */
function endOfString(bytes: Uint8Array, from: number, stopAt: number): number {
  for (let at = from; at < stopAt; at++) {
    const byte = bytes[at]
    if (byte === 0x22) return at
    if (byte === backslash) at++
  }
  return stopAt
}
