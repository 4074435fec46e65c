/** Joins texts up to a limit: `a, b and 7 more`. */
export function joinSome(
  texts: readonly string[],
  { most, between = ', ' }: { readonly most: number; readonly between?: string },
): string {
  const named = texts.slice(0, most).join(between)
  return texts.length > most ? `${named} and ${texts.length - most} more` : named
}
