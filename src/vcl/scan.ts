/**
 * Splits VCL into the compiler's own tokens, one after the other in one reused object: nothing is allocated per token, because other work
 * waits while texts of megabytes are read. Source: vcc_token.c vcc_Lexer of 7.1. 6.0 differs in two ways: it joins identifiers with their
 * dots, and it reads `"""` as `""` and the start of a string, which has its own reading here.
 */

/** How to read `"""`. */
export type VclReading = 'current' | 'of 6.0'

export type TokenKind =
  /** `sub`, `req`, `X-Foo`: letters, digits, dash and underscore; dots in between are punctuation. */
  | 'identifier'
  | 'number'
  /** `"…"`, `{"…"}` or `"""…"""`. */
  | 'string'
  /** `C{ … }C`. */
  | 'inline-c'
  /** `:base64:`. */
  | 'blob'
  /** Operators, braces, and characters without a meaning in VCL, which the compiler will refuse. */
  | 'punctuation'
  /** Text that cannot be read any further; always the last token. */
  | 'error'

/** The scanner's state, which describes the last token read. */
export interface Scan {
  readonly text: string
  readonly delimiters: readonly Delimiter[]
  kind: TokenKind
  /** Index of the first character, in UTF-16 units. */
  start: number
  /** Index after the last character, in UTF-16 units; for an error, after its opening delimiter. */
  end: number
  /** Range of a string's content between its delimiters. */
  valueStart: number
  valueEnd: number
  /** For an error, the compiler's message. */
  reason: string
}

export function beginScan(text: string, reading: VclReading = 'current'): Scan {
  return {
    text,
    delimiters: delimitersOf[reading],
    kind: 'punctuation',
    start: 0,
    end: 0,
    valueStart: 0,
    valueEnd: 0,
    reason: '',
  }
}

/** Advances to the next token, skipping comments and white space. Returns false at the end. */
export function scanToken(scan: Scan): boolean {
  const { text } = scan
  if (scan.kind === 'error') return false
  let at = skipBlanks(text, scan.end)
  while (text.charCodeAt(at) === hash || text.charCodeAt(at) === slash) {
    const end = endOfComment(scan, at)
    if (end === at) break
    if (end < 0) return true
    at = skipBlanks(text, end)
  }
  if (at >= text.length) return false
  scan.start = at
  readToken(scan, text.charCodeAt(at), at)
  return true
}

const tab = 0x09
const formFeed = 0x0c
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const hash = 0x23
const slash = 0x2f
const colon = 0x3a
const capitalC = 0x43
const brace = 0x7b

/** White space as defined by vct.c; a form feed is not part of it. */
function skipBlanks(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    const isBlank = code === space || (code >= tab && code <= carriageReturn && code !== formFeed)
    if (!isBlank) return at
    at++
  }
}

/** Returns `at` if no comment starts there, and -1 for an unreadable comment, which becomes the error token. */
function endOfComment(scan: Scan, at: number): number {
  const { text } = scan
  if (text.charCodeAt(at) === hash || text.startsWith('//', at)) {
    const end = text.indexOf('\n', at)
    return end < 0 ? text.length : end
  }
  if (!text.startsWith('/*', at)) return at
  const close = text.indexOf('*/', at + 2)
  const open = indexOfBefore(text, '/*', at + 2, close < 0 ? text.length : close)
  if (close >= 0 && open < 0) return close + 2
  // `/*/` contains another opening one character before its end: the compiler looks for the opening first.
  const what = open >= 0 ? '/* ... */ comment contains /*' : 'Unterminated /* ... */ comment'
  scan.start = at
  fail(scan, at + 2, what)
  return -1
}

/** Like indexOf, but never reads beyond `before`, so that many small comments take linear time. */
function indexOfBefore(text: string, what: string, from: number, before: number): number {
  const found = text.slice(from, before + 1).indexOf(what)
  return found < 0 || from + found >= before ? -1 : from + found
}

/** vcc_Lexer tries each form in turn; the first character leaves one choice, and anything else is punctuation. */
function readToken(scan: Scan, code: number, at: number): void {
  const { text } = scan
  const isDelimiter = code === quote || code === brace || code === capitalC
  if (isDelimiter && readDelimited(scan, at)) return
  const first = code | space // converts letters to lower case
  if (first >= 0x61 && first <= 0x7a) {
    scan.kind = 'identifier'
    scan.end = endOfWord(text, at + 1)
  } else if (code >= 0x30 && code <= 0x39) {
    number.lastIndex = at
    number.test(text)
    scan.kind = 'number'
    scan.end = number.lastIndex
  } else if (code === colon) readBlob(scan, at)
  else {
    scan.kind = 'punctuation'
    scan.end = endOfPunctuation(text, code, at)
  }
}

const number = /[0-9]+(?:\.[0-9]*)?/y

const wordCodes = new Uint8Array(0x80)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-')
  wordCodes[character.charCodeAt(0)] = 1

function endOfWord(text: string, from: number): number {
  let at = from
  for (let code = text.charCodeAt(at); code < 0x80 && wordCodes[code] === 1;)
    code = text.charCodeAt(++at)
  return at
}

const blobForm = /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?:/y

function readBlob(scan: Scan, at: number): void {
  blobForm.lastIndex = at
  if (!blobForm.test(scan.text)) {
    fail(scan, at + 1, 'Illegal BLOB')
    return
  }
  scan.kind = 'blob'
  scan.end = blobForm.lastIndex
}

interface Delimiter {
  readonly name: string
  readonly open: string
  readonly close: string
  readonly kind: 'string' | 'inline-c'
  /** True if it may span lines. */
  readonly lines: boolean
}

const currentDelimiters: readonly Delimiter[] = [
  { name: 'long-string', open: '"""', close: '"""', kind: 'string', lines: true },
  { name: 'long-string', open: '{"', close: '"}', kind: 'string', lines: true },
  { name: 'string', open: '"', close: '"', kind: 'string', lines: false },
  { name: 'inline C source', open: 'C{', close: '}C', kind: 'inline-c', lines: true },
]

const delimitersOf: Readonly<Record<VclReading, readonly Delimiter[]>> = {
  current: currentDelimiters,
  'of 6.0': currentDelimiters.filter(({ open }) => open !== '"""'),
}

/** Returns false if no delimited token starts here. */
function readDelimited(scan: Scan, at: number): boolean {
  const { text, delimiters } = scan
  for (const form of delimiters) {
    if (!text.startsWith(form.open, at)) continue
    const from = at + form.open.length
    const close = form.lines ? text.indexOf(form.close, from) : closeOfString(text, from)
    if (close < 0) fail(scan, from, `Unterminated ${form.name}`)
    else {
      scan.kind = form.kind
      scan.valueStart = from
      scan.valueEnd = close
      scan.end = close + form.close.length
    }
    return true
  }
  return false
}

const endOfString = /["\r\n]|$/g

function closeOfString(text: string, from: number): number {
  endOfString.lastIndex = from
  endOfString.test(text)
  const close = endOfString.lastIndex - 1
  return text.charCodeAt(close) === quote && close >= from ? close : -1
}

/** From generate.py; all of them have two characters. */
const operators = new Set('++ -- && || <= == != >= >> << += -= *= /= !~'.split(' '))
const operatorStarts = new Set([...operators].map((operator) => operator.charCodeAt(0)))

function endOfPunctuation(text: string, code: number, at: number): number {
  if (operatorStarts.has(code) && operators.has(text.slice(at, at + 2))) return at + 2
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
}

function fail(scan: Scan, end: number, reason: string): void {
  scan.kind = 'error'
  scan.end = end
  scan.reason = `${reason}, starting here`
}
