/** Names and texts may come from other people, so control characters must not reach a terminal. */

/** C0, DEL, C1, line separators, bidirectional controls and lone surrogates. */
const actingCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** Shows control characters as escapes such as `\u001b`. */
export function toPrintableLine(text: string): string {
  return text.replace(actingCharacters, escapeCharacter)
}

/** Like toPrintableLine, but keeps line feeds and tabs. */
export function toPrintableText(text: string): string {
  return text.replace(actingCharacters, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  )
}

/** Escaping these does not change the JSON's meaning; JSON.stringify escapes only C0 and lone surrogates. */
const unescapedByJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function toJsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(unescapedByJson, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
