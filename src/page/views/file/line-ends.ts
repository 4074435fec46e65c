/** Restores the file's line ends: an editor knows only one kind. */

/** A file with both kinds gets the one that most of its lines have. */
export function restoreLineEnds(text: string, before: string): string {
  const all = before.split('\n').length - 1
  const long = before.split('\r\n').length - 1
  return long * 2 > all ? text.replaceAll('\n', '\r\n') : text
}

export function isSameText(one: string, other: string): boolean {
  return one.replace(/\r\n?/g, '\n') === other.replace(/\r\n?/g, '\n')
}
