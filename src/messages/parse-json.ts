/** JSON of a peer, before its form is checked. */

/**
 * Without U+0000: what agents say is written together, PostgreSQL refuses the character, and one agent that says it would keep
 * what all others say out of the store. Throws SyntaxError.
 */
export function parsePeerJson(text: string): unknown {
  return text.includes(escapedNul) ? JSON.parse(text, dropNul) : JSON.parse(text)
}

/** In JSON it stands in no other way. */
const escapedNul = '\\u0000'

function dropNul(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value
}
