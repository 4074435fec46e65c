/**
 * Messages of several agents are written in one batch, and PostgreSQL refuses U+0000: a single agent that sent it would block the
 * writes of all others.
 */

/** `value`: the parsed `text`. Returns it without the character. */
export function withoutNul(text: string, value: unknown): unknown {
  return text.includes(escapedNul) ? JSON.parse(text, replaceNul) : value
}

/** The only form of U+0000 in JSON. */
const escapedNul = '\\u0000'

function replaceNul(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value
}
