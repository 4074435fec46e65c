/** Finds the field that an API error is about. */

/** True if the API's message is about this field: it begins with the name, as in `tags[0].id must be …`. */
export function isAbout(
  error: { readonly errorMsg: string } | null | undefined,
  name: string | undefined,
): boolean {
  if (!error || name === undefined) return false
  const rest = error.errorMsg.toLowerCase().replace(/^"/, '')
  return rest.startsWith(name.toLowerCase()) && !/^\w/.test(rest.slice(name.length))
}
