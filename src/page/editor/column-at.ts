/** The VCL compiler's positions in a line of text. */

/** Converts a 1-based compiler position to a 0-based column: the compiler expands a tab to the next multiple of 8 (vcc_token.c). */
export function columnAt(text: string, position: number): number {
  let at = 1
  for (let column = 0; column < text.length; column++) {
    if (at >= position) return column
    at = text[column] === '\t' ? at + 8 - ((at - 1) % 8) : at + 1
  }
  return text.length
}
