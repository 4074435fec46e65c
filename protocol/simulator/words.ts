/** Splits a command line into words: blanks, quotes and backslash escapes (vav.c VAV_ParseTxt). */
import type { Quoting } from './release.js'

export type Words =
  | { readonly words: readonly string[] }
  /** The text after "Syntax Error: ". */
  | { readonly error: string }

/** The words of `line`, which ends at its first NUL; a decoded NUL ends its word, as in the engine's C strings. */
export function parseWords(line: string, quoting: Quoting): Words {
  const end = endOfText(line)
  const words: string[] = []
  let closedAt = -1 // index of the last word's closing quote, -1 if it had none
  let at = 0
  while (at < end) {
    if (isBlank(line.charCodeAt(at))) {
      at++
      continue
    }
    if (closedAt >= 0 && line[at] === '"' && isNeighbourRefused(quoting, at - closedAt))
      return { error: 'Missing separator between arguments' }
    const word = readWord(line, at, { end, mayHoldQuote: quoting === 'loose' })
    if ('error' in word) return word
    words.push(endAtNul(word.text))
    closedAt = word.isQuoted ? word.end : -1
    at = word.end + 1
  }
  return { words }
}

interface Word {
  readonly text: string
  /** Index of the closing quote or of the blank after the word. */
  readonly end: number
  readonly isQuoted: boolean
}

function readWord(
  line: string,
  start: number,
  { end, mayHoldQuote }: { readonly end: number; readonly mayHoldQuote: boolean },
): Word | { readonly error: string } {
  const isQuoted = line[start] === '"'
  let at = isQuoted ? start + 1 : start
  let plainFrom = at
  let text = ''
  while (at < end) {
    const code = line.charCodeAt(at)
    if (code === backslash) {
      const escape = readEscape(line, at, end)
      if (escape === undefined) return { error: 'Invalid backslash sequence' }
      text += line.slice(plainFrom, at) + String.fromCharCode(escape.code)
      at = plainFrom = escape.end
      continue
    }
    if (isQuoted ? code === quote : isBlank(code)) {
      return { text: text + line.slice(plainFrom, at), end: at, isQuoted }
    }
    if (code === quote && !mayHoldQuote) return { error: `Invalid '"'` }
    at++
  }
  if (isQuoted) return { error: `Missing '"'` }
  return { text: text + line.slice(plainFrom, at), end: at, isQuoted }
}

function readEscape(line: string, at: number, end: number) {
  const letter = line[at + 1]
  if (letter === undefined || at + 1 >= end) return undefined
  const simple = simpleEscapes[letter]
  if (simple !== undefined) return { code: simple, end: at + 2 }
  const rest = line.slice(at + 1, Math.min(at + 4, end))
  const digits = /^[0-7]{1,3}/.exec(rest)?.[0]
  if (digits !== undefined) return { code: parseInt(digits, 8) & 0xff, end: at + 1 + digits.length }
  const hex = /^x([0-9a-fA-F]{2})/.exec(rest)?.[1]
  return hex === undefined ? undefined : { code: parseInt(hex, 16), end: at + 4 }
}

const quote = 0x22
const backslash = 0x5c
const simpleEscapes: Readonly<Record<string, number>> = {
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  '"': quote,
  '\\': backslash,
}

function isNeighbourRefused(quoting: Quoting, distance: number): boolean {
  return quoting === 'neighbours' || (quoting === 'touching' && distance < 2)
}

/** isspace(3) in the C locale. */
export function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function endOfText(line: string): number {
  const nul = line.indexOf('\0')
  return nul < 0 ? line.length : nul
}

/** The part of `text` that a C string would contain. */
export const endAtNul = (text: string): string => text.slice(0, endOfText(text))
