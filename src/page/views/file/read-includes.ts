/** What a VCL text includes, as far as can be seen without compiling it. */

/** Comments and strings are read over; only the form that an author's own files are included by. */
const pieces =
  /\/\*[^]*?(?:\*\/|$)|(?:\/\/|#).*|\{"[^]*?(?:"\}|$)|"""[^]*?(?:"""|$)|\binclude\s+"(?<name>[^"\n]*)"|"[^"\n]*"?/g

/** Names in their order, each once. */
export function readIncludes(text: string): readonly string[] {
  const names = [...text.matchAll(pieces)].flatMap(({ groups }) => groups?.['name'] ?? [])
  return [...new Set(names.filter((name) => name !== ''))]
}

/** A name as a filter of the API that means it alone. */
export function quotePattern(name: string): string {
  return name.replace(/[\\*,]/g, '\\$&')
}
