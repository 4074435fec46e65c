/** Texts of agents are stored and shown, so they are truncated to a length that users can read. */

/** The limit for compiler output, a panic or a value, in bytes of UTF-8. */
export const textLimitBytes = 64 * 1024
const cutMark = '…'

/** Truncates all texts within `value` in place: it was just parsed from JSON of limited depth and may have a million members. */
export function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = cutTexts(value[at])
    return value
  }
  const members = value as Record<string, unknown> // what JSON has besides
  for (const key of Object.keys(members)) members[key] = cutTexts(members[key])
  return value
}

/** Never cuts within a character. */
function cutText(text: string, limitBytes = textLimitBytes): string {
  // A UTF-16 unit is at most 3 bytes of UTF-8.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.from(text.slice(0, limitBytes + 1))
  if (bytes.length <= limitBytes) return text
  let end = limitBytes - Buffer.byteLength(cutMark)
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + cutMark
}
