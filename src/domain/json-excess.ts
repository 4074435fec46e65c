/**
 * JSON that should not even be parsed: each member takes time that nobody else gets, and memory many times its own length; what is
 * nested deep cannot be written again.
 */

export interface JsonLimits {
  /** Of objects and arrays within each other. */
  readonly depth: number
  /** Of all objects and arrays together. */
  readonly members: number
}

/** Counts brackets and commas outside of strings, before anything is allocated for them. Null: nothing is too much. */
export function findJsonExcess(bytes: Uint8Array, limits: JsonLimits): string | null {
  let depth = 0
  let members = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === 0x22) {
      at = endOfString(bytes, at + 1)
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++
      if (depth > limits.depth) return `is nested deeper than ${limits.depth} objects and arrays`
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte === 0x2c) {
      members++
      if (members > limits.members)
        return `has over ${limits.members} members in its objects and arrays`
    }
  }
  return null
}

/** The index of the quote that ends the string; the end of the bytes when there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(0x22, from)
  while (at >= 0 && isEscaped(bytes, at, from)) at = bytes.indexOf(0x22, at + 1)
  return at < 0 ? bytes.length : at
}

function isEscaped(bytes: Uint8Array, at: number, from: number): boolean {
  let backslashes = 0
  while (at - 1 - backslashes >= from && bytes[at - 1 - backslashes] === 0x5c) backslashes++
  return backslashes % 2 === 1
}
