/** What an agent says is kept and shown: a text of one is never longer than what people read. */

/** Of a compiler's answer, a panic, a value; in bytes of UTF-8. */
export const textLimitBytes = 64 * 1024
const cutMark = '…'

/** All texts within `value`, which was parsed from JSON that is not nested deep. */
export function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value)
  if (Array.isArray(value)) return value.map(cutTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cutTexts(one)]))
}

/** Not within a character. */
export function cutText(text: string, limitBytes = textLimitBytes): string {
  // A UTF-16 unit is at most 3 bytes of UTF-8.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.from(text.slice(0, limitBytes + 1))
  if (bytes.length <= limitBytes) return text
  let end = limitBytes - Buffer.byteLength(cutMark)
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + cutMark
}
