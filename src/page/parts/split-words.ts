/** Splits a typed list of words at blanks and commas. */
export function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}
