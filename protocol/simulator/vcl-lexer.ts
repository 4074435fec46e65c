/** VCL text cut into tokens as the engine's compiler does it, and its way to point at them (libvcc/vcc_token.c). */

export interface VclSource {
  readonly name: string
  readonly text: string
}

export interface VclToken {
  /** Punctuation stands for itself. */
  readonly kind: 'ID' | 'CNUM' | 'FNUM' | 'CSTR' | 'CSRC' | 'CBLOB' | 'EOI' | (string & {})
  readonly text: string
  readonly start: number
  readonly end: number
  readonly source: VclSource
}

/** A refusal of the compiler; the message is everything between "Message from VCC-compiler:" and "Running …". */
export class VclRefused extends Error {
  override readonly name = 'VclRefused'
}

/** Tokens of one source, the last of them `EOI`. */
export function lexVcl(source: VclSource): VclToken[] {
  const tokens: VclToken[] = []
  const { text } = source
  let at = 0
  while (at < text.length) {
    at = skipBlanks(source, at)
    if (at >= text.length) break
    const token = readToken(source, at)
    tokens.push(token)
    at = token.end
  }
  tokens.push(makeToken(source, 'EOI', { start: text.length, end: text.length }))
  return tokens
}

/** Position, line and marker of a token, with a blank line behind (vcc_ErrWhere). */
export function pointAt(token: VclToken): string {
  return `${locate(token)}\n${excerpt(token.source, token.start, token.end)}\n`
}

/** The same for a run of tokens (vcc_ErrWhere2). */
export function pointAtRange(first: VclToken, last: VclToken): string {
  const { source } = first
  const lastStart = lineStart(source.text, last.end - 1)
  if (lineStart(source.text, first.start) === lastStart) {
    const { column } = lineAndColumn(source.text, last.start)
    const end = column + (last.end - last.start) - 1
    return `${locate(first)} -- (Pos ${end})\n${excerpt(source, first.start, last.end)}\n`
  }
  return `${locate(first)}\n${excerpt(source, first.start, last.end)}[...]\n${locate(last)}\n${excerpt(source, last.start, last.end)}\n`
}

/** What the compiler calls a token in "got …" and "Found: …". */
export function describeToken(token: VclToken): string {
  if (token.kind === 'EOI') return 'end of input'
  return token.kind === 'CSRC' ? 'C{ ... }C' : `'${token.text}'`
}

function makeToken(
  source: VclSource,
  kind: string,
  { start, end }: { readonly start: number; readonly end: number },
): VclToken {
  return { kind, text: source.text.slice(start, end), start, end, source }
}

function refuseAt(source: VclSource, message: string, start: number, length: number): VclRefused {
  const token = makeToken(source, 'EOI', { start, end: start + length })
  return new VclRefused(`${message}\n${pointAt(token)}`)
}

const blanks = /[ \t\n\v\f\r]+/y
const lineComment = /(?:#|\/\/)[^\n]*/y

function skipBlanks(source: VclSource, from: number): number {
  const { text } = source
  for (let at = from; ;) {
    const next = matchEnd(blanks, text, at) ?? matchEnd(lineComment, text, at)
    if (next !== undefined) at = next
    else if (text.startsWith('/*', at)) at = skipComment(source, at)
    else return at
  }
}

function skipComment(source: VclSource, start: number): number {
  const { text } = source
  const end = text.indexOf('*/', start + 2)
  const nested = text.indexOf('/*', start + 2)
  if (nested >= 0 && (end < 0 || nested < end)) {
    const second = makeToken(source, 'EOI', { start: nested, end: nested + 2 })
    const first = makeToken(source, 'EOI', { start, end: start + 2 })
    throw new VclRefused(`/* ... */ comment contains /*\n${pointAt(first)}${pointAt(second)}`)
  }
  if (end < 0) throw refuseAt(source, 'Unterminated /* ... */ comment, starting at', start, 2)
  return end + 2
}

/** Delimited tokens, in the order the compiler tries them. */
const delimited = [
  { what: 'long-string', open: '"""', close: '"""', kind: 'CSTR', mayHoldLines: true },
  { what: 'long-string', open: '{"', close: '"}', kind: 'CSTR', mayHoldLines: true },
  { what: 'string', open: '"', close: '"', kind: 'CSTR', mayHoldLines: false },
  { what: 'inline C source', open: 'C{', close: '}C', kind: 'CSRC', mayHoldLines: true },
] as const

const punctuation = /\+\+|--|&&|\|\||<=|==|!=|>=|>>|<<|\+=|-=|\*=|\/=|!~|[{}()*+\-/%><=;!&.|~,]/y
const identifier = /[A-Za-z][A-Za-z0-9_-]*/y
const number = /\d+(?:\.\d*)?/y
/** RFC 8941 sf-binary. */
const blob = /:[A-Za-z0-9+/]*={0,2}:/y

function readToken(source: VclSource, start: number): VclToken {
  const { text } = source
  const delimiter = delimited.find(({ open }) => text.startsWith(open, start))
  if (delimiter !== undefined) {
    const { what, open, close, kind, mayHoldLines } = delimiter
    const from = start + open.length
    const end = text.indexOf(close, from)
    const isBroken = !mayHoldLines && /[\r\n]/.test(text.slice(from, end))
    if (end < 0 || isBroken)
      throw refuseAt(source, `Unterminated ${what}, starting at`, start, open.length)
    return makeToken(source, kind, { start, end: end + close.length })
  }
  const blobEnd = matchEnd(blob, text, start)
  if (blobEnd !== undefined) return makeToken(source, 'CBLOB', { start, end: blobEnd })
  const mark = matchEnd(punctuation, text, start)
  if (mark !== undefined) return makeToken(source, text.slice(start, mark), { start, end: mark })
  const word = matchEnd(identifier, text, start)
  if (word !== undefined) return makeToken(source, 'ID', { start, end: word })
  const digits = matchEnd(number, text, start)
  if (digits === undefined) throw refuseAt(source, 'Syntax error at', start, 1)
  const kind = text.slice(start, digits).includes('.') ? 'FNUM' : 'CNUM'
  return makeToken(source, kind, { start, end: digits })
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

const lineStart = (text: string, at: number) => (at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1)

function lineAndColumn(text: string, at: number): { line: number; column: number } {
  let line = 1
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1))
    line++
  return { line, column: widthOf(text.slice(lineStart(text, at), at)) + 1 }
}

function locate(token: VclToken): string {
  const { line, column } = lineAndColumn(token.source.text, token.start)
  return `('${token.source.name}' Line ${line} Pos ${column})`
}

/** The line with tabs as blanks, and below it `#` under the marked bytes, `-` under the others. */
function excerpt({ text }: VclSource, start: number, end: number): string {
  const from = lineStart(text, start)
  const lineEnd = text.indexOf('\n', from)
  const line = text.slice(from, lineEnd < 0 ? text.length : lineEnd)
  let shown = ''
  let marks = ''
  for (let at = 0; at < line.length; at++) {
    const mark = from + at >= start && from + at < end ? '#' : '-'
    const isTab = line[at] === '\t'
    const width = isTab ? 8 - (shown.length % 8) : 1
    shown += isTab ? ' '.repeat(width) : (line[at] ?? '')
    marks += mark.repeat(width)
  }
  return `${shown}\n${marks}\n`
}

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += character === '\t' ? 8 - (width % 8) : 1
  return width
}
