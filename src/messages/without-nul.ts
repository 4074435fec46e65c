/**
 * What agents say is written together, and PostgreSQL refuses U+0000: one agent that said it would keep what all others say out of
 * the store.
 */

/** `value` is what `text` was parsed to; answers it without the character. */
export function withoutNul(text: string, value: unknown): unknown {
  return text.includes(escapedNul) ? JSON.parse(text, replaceNul) : value
}

/** In JSON it stands in no other way. */
const escapedNul = '\\u0000'

function replaceNul(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value
}
