/** Splits a sentence around a name; null: it does not occur. Uses the last occurrence, since verbs precede the name. */
export function splitAtName(
  text: string,
  name: string,
): { readonly before: string; readonly after: string } | null {
  const at = name === '' ? -1 : text.lastIndexOf(name)
  return at < 0 ? null : { before: text.slice(0, at), after: text.slice(at + name.length) }
}
