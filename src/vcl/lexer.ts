/**
 * VCL as tokens that know where they stand and what they say. Comments and white space give none. One pass, and nothing is
 * kept: a caller that stops early pays for what it read. Who looks for a few things in long texts uses scan.ts itself.
 */
import { advancePoint, textStart, type TextPoint } from './text-point.js'
import { beginScan, scanToken, type Scan, type TokenKind } from './scan.js'

export interface Token extends TextPoint {
  readonly kind: TokenKind
  /** As written. Of an error: the opening delimiter. */
  readonly text: string
  /** Of a string what stands between its delimiters, of an error the reason, otherwise the text. */
  readonly value: string
  /** Where it begins, in UTF-16 units. */
  readonly start: number
  /** Behind its last character, in UTF-16 units. */
  readonly end: number
}

export function* lexVcl(text: string): Generator<Token, void, undefined> {
  const scan = beginScan(text)
  let point = textStart
  let read = 0
  while (scanToken(scan)) {
    const { kind, start, end } = scan
    point = advancePoint(point, text, read, start)
    read = start
    const { line, position } = point
    const written = text.slice(start, end)
    yield { kind, text: written, value: valueOf(scan, written), start, end, line, position }
  }
}

function valueOf({ kind, text, valueStart, valueEnd, reason }: Scan, written: string): string {
  if (kind === 'error') return reason
  return kind === 'string' ? text.slice(valueStart, valueEnd) : written
}
