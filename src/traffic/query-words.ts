/**
 * Splits a log query into words as the cache's own tools do (vxp_lexer.c, the same from 6.0 to 9.0): fixed tokens, words of
 * `a-z A-Z 0-9 + - _ . *`, and texts in single or double quotes, in which a backslash escapes the next character.
 */
import { FleetError } from '../errors.js'

export interface QueryWord {
  readonly kind: 'mark' | 'bare' | 'quoted'
  /** Without its quotes and escapes. */
  readonly text: string
  /** Index of its first character in the query. */
  readonly at: number
}

/** docs/behaviour.md, Live log. */
export const queryLimitBytes = 1024

// C0, DEL, C1, line separators and lone surrogates: a line feed begins another query, and users type none of the others.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u
const word =
  / +|(==|!=|<=|>=|!~|[<>~(){}[\],:])|"((?:[^"\\]|\\.)*)("?)|'((?:[^'\\]|\\.)*)('?)|([\w+.*-]+)|./gu

/** Throws FleetError 'invalid' with the position, in characters from 1. */
export function splitQuery(text: string): readonly QueryWord[] {
  const bytes = Buffer.byteLength(text)
  if (bytes > queryLimitBytes)
    throw refuseQuery(text, 0, `it has ${bytes} bytes; at most ${queryLimitBytes} are allowed`)
  const found = unprintable.exec(text)
  if (found) throw refuseQuery(text, found.index, 'a control character is not allowed')
  const words: QueryWord[] = []
  for (const match of text.matchAll(word)) {
    const { 0: whole, 1: mark, 6: bare, index: at } = match
    const [quoted, end] = match[2] === undefined ? [match[4], match[5]] : [match[2], match[3]]
    if (mark !== undefined) words.push({ kind: 'mark', text: mark, at })
    else if (bare !== undefined) words.push({ kind: 'bare', text: bare, at })
    else if (quoted !== undefined) {
      if (end === '') throw refuseQuery(text, at, 'this quote is not closed')
      words.push({ kind: 'quoted', text: quoted.replace(/\\(.)/gu, '$1'), at })
    } else if (!whole.startsWith(' '))
      throw refuseQuery(text, at, `${JSON.stringify(whole)} is not a part of a query`)
  }
  return words
}

export function refuseQuery(text: string, index: number, reason: string): FleetError {
  const position = Array.from(text.slice(0, index)).length + 1
  return new FleetError('invalid', 'log', `q, position ${position}: ${reason}`)
}
