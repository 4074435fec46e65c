/** A sentence around the name in it; null: the name is not there. The last one: verbs stand before it. */
export function splitAtName(
  text: string,
  name: string,
): { readonly before: string; readonly after: string } | null {
  const at = name === '' ? -1 : text.lastIndexOf(name)
  return at < 0 ? null : { before: text.slice(0, at), after: text.slice(at + name.length) }
}
