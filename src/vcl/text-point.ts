/**
 * The position of a character as the compiler counts it: lines from 1, positions from 1 in UTF-8 bytes; a tab advances to the next multiple
 * of 8. Source: vcc_token.c vcc_icoord.
 */

export interface TextPoint {
  readonly line: number
  readonly position: number
}

export const textStart: TextPoint = { line: 1, position: 1 }

/** The point of `text[to]`, given that `text[from]` is at `point`. */
export function advancePoint(
  point: TextPoint,
  text: string,
  from = 0,
  to = text.length,
): TextPoint {
  let { line, position } = point
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) {
      line++
      position = 1
    } else if (code === 0x09) position = ((position - 1) & ~7) + 9
    else position += utf8Length(code)
  }
  return { line, position }
}

/** UTF-8 bytes per UTF-16 unit; each half of a surrogate pair counts two. */
function utf8Length(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) return 2
  return 3
}
