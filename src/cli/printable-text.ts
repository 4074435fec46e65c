/** Names and texts are other people's: on a terminal no character of them may act. */

/** C0, DEL, C1, line separators, and what turns the direction of text. */
const actingCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** Acting characters are shown as `\u001b`. */
export function toPrintableLine(text: string): string {
  return text.replace(actingCharacters, escapeCharacter)
}

/** As toPrintableLine; line feeds and tabs stay. */
export function toPrintableText(text: string): string {
  return text.replace(actingCharacters, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  )
}

/** JSON means the same with these escaped; JSON.stringify escapes C0 and lone surrogates only. */
const unescapedByJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function toJsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(unescapedByJson, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
