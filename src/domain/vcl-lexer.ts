/**
 * VCL as the compiler's own tokens. Source: vcc_token.c vcc_Lexer of 7.1; 6.0 differs in two places: it joins
 * identifiers with their dots, and it does not know `"""` (there a `"""` is `""` and the start of a string).
 *
 * Comments and white space give no token. One pass, and nothing is kept: a caller that stops early pays for what it read.
 */
import { advancePoint, textStart, type TextPoint } from './text-point.js'

export type TokenKind =
  /** `sub`, `req`, `X-Foo`: letters, digits, dash and underscore; the dots between are punctuation. */
  | 'identifier'
  | 'number'
  /** `"…"`, `{"…"}` or `"""…"""`. */
  | 'string'
  /** `C{ … }C`. */
  | 'inline-c'
  /** `:base64:`. */
  | 'blob'
  /** Operators, braces, and any character that VCL has no use for: the compiler will say so. */
  | 'punctuation'
  /** What cannot be read on from; always the last token. `value` says why, in the compiler's words. */
  | 'error'

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
  let point = textStart
  let read = 0
  let at = skipBlanks(text, 0)
  while (at < text.length) {
    const found = findToken(text, at)
    point = advancePoint(point, text, read, at)
    read = at
    if (found.kind !== 'comment') {
      const { kind, end, value } = found
      const written = text.slice(at, end)
      const { line, position } = point
      yield { kind, text: written, value: value ?? written, start: at, end, line, position }
      if (kind === 'error') return
    }
    at = skipBlanks(text, found.end)
  }
}

/** The white space of vct.c; a form feed is none. */
const blank = /[\t\n\v\r ]*/y

function skipBlanks(text: string, at: number): number {
  blank.lastIndex = at
  return blank.test(text) ? blank.lastIndex : at
}

interface Found {
  readonly kind: TokenKind | 'comment'
  readonly end: number
  readonly value?: string
}

/** vcc_Lexer tries one form after the other; by the first character there is one choice, and the rest is punctuation. */
function findToken(text: string, at: number): Found {
  const code = text.charCodeAt(at)
  const found = opening.get(code)?.(text, at)
  if (found) return found
  if ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) return endOf('identifier', word, text, at)
  if (code >= 0x30 && code <= 0x39) return endOf('number', number, text, at)
  return { kind: 'punctuation', end: endOfPunctuation(text, at) }
}

const opening: ReadonlyMap<number, (text: string, at: number) => Found | undefined> = new Map([
  [0x22 /* " */, findDelimited],
  [0x7b /* { */, findDelimited],
  [0x43 /* C */, findDelimited],
  [0x23 /* # */, findComment],
  [0x2f /* / */, findComment],
  [0x3a /* : */, findBlob],
])

function findComment(text: string, at: number): Found | undefined {
  if (text[at] === '#' || text.startsWith('//', at)) {
    const end = text.indexOf('\n', at)
    return { kind: 'comment', end: end < 0 ? text.length : end }
  }
  if (!text.startsWith('/*', at)) return undefined
  const close = text.indexOf('*/', at + 2)
  const open = indexOfBefore(text, '/*', at + 2, close < 0 ? text.length : close)
  // `/*/` opens again one character before it would close: the compiler looks for the opening first.
  if (open >= 0)
    return { kind: 'error', end: at + 2, value: '/* ... */ comment contains /*, starting here' }
  if (close < 0)
    return { kind: 'error', end: at + 2, value: 'Unterminated /* ... */ comment, starting here' }
  return { kind: 'comment', end: close + 2 }
}

/** Like indexOf, but never reads on behind `before`, so that many small comments stay linear. */
function indexOfBefore(text: string, what: string, from: number, before: number): number {
  const found = text.slice(from, before + 1).indexOf(what)
  return found < 0 || from + found >= before ? -1 : from + found
}

const blobForm = /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?:/y

function findBlob(text: string, at: number): Found {
  blobForm.lastIndex = at
  if (blobForm.test(text)) return { kind: 'blob', end: blobForm.lastIndex }
  return { kind: 'error', end: at + 1, value: 'Illegal BLOB, starting here' }
}

const delimiters = [
  { name: 'long-string', open: '"""', close: '"""', kind: 'string', lines: true },
  { name: 'long-string', open: '{"', close: '"}', kind: 'string', lines: true },
  { name: 'string', open: '"', close: '"', kind: 'string', lines: false },
  { name: 'inline C source', open: 'C{', close: '}C', kind: 'inline-c', lines: true },
] as const

const endOfString = /["\r\n]|$/g

function findDelimited(text: string, at: number): Found | undefined {
  const form = delimiters.find(({ open }) => text.startsWith(open, at))
  if (!form) return undefined
  const from = at + form.open.length
  const close = form.lines ? text.indexOf(form.close, from) : closeOfString(text, from)
  if (close < 0)
    return { kind: 'error', end: from, value: `Unterminated ${form.name}, starting here` }
  const end = close + form.close.length
  return form.kind === 'string'
    ? { kind: 'string', end, value: text.slice(from, close) }
    : { kind: 'inline-c', end }
}

function closeOfString(text: string, from: number): number {
  endOfString.lastIndex = from
  const found = endOfString.exec(text)
  return found?.[0] === '"' ? found.index : -1
}

const word = /[A-Za-z][A-Za-z0-9_-]*/y
const number = /[0-9]+(?:\.[0-9]*)?/y

/** `form` matches at least one character here. */
function endOf(kind: TokenKind, form: RegExp, text: string, at: number): Found {
  form.lastIndex = at
  form.test(text)
  return { kind, end: form.lastIndex }
}

/** generate.py; all of them have two characters. */
const operators = new Set('++ -- && || <= == != >= >> << += -= *= /= !~'.split(' '))

function endOfPunctuation(text: string, at: number): number {
  if (operators.has(text.slice(at, at + 2))) return at + 2
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
}
