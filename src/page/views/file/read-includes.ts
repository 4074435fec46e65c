/** Reads the includes of a VCL text, as far as possible without compiling it. */

/** Skips comments and strings; matches only the form of include used for the author's own files. */
const pieces =
  /\/\*[^]*?(?:\*\/|$)|(?:\/\/|#).*|\{"[^]*?(?:"\}|$)|"""[^]*?(?:"""|$)|\binclude\s+"(?<name>[^"\n]*)"|"[^"\n]*"?/g

/** Returns the names in order, without duplicates. */
export function readIncludes(text: string): readonly string[] {
  const names = [...text.matchAll(pieces)].flatMap(({ groups }) => groups?.['name'] ?? [])
  return [...new Set(names.filter((name) => name !== ''))]
}

/** Escapes a name so that the API's filter matches only this name. */
export function quotePattern(name: string): string {
  return name.replace(/[\\*,]/g, '\\$&')
}
