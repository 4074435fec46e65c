/**
 * Splits VCL into tokens with positions and values; comments and white space yield none. It is a single pass without a buffer, so a caller
 * that stops early pays only for what it read. Searches for a few things in long texts use scan.ts directly.
 */
import { advancePoint, textStart, type TextPoint } from './text-point.js'
import { beginScan, scanToken, type Scan, type TokenKind } from './scan.js'

export interface Token extends TextPoint {
  readonly kind: TokenKind
  /** As written. For an error: the opening delimiter. */
  readonly text: string
  /** For a string the text between its delimiters, for an error the reason, otherwise the text. */
  readonly value: string
  /** Index of the first character, in UTF-16 units. */
  readonly start: number
  /** Index after the last character, in UTF-16 units. */
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
