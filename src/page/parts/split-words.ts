/** A list of words, as it is typed: with blanks or commas between. */
export function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}
