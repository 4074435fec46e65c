/**
 * Points every backend of a VCL to a local address, so that a test contacts no other host. The original address fields are blanked
 * and the new ones inserted before the closing brace of the block: positions in the rest of the text do not change.
 */
import { FleetError } from '../errors.js'
import { lexVcl, type Token } from '../vcl/lexer.js'
import { findStatements } from '../vcl/statements.js'

export interface FoundBackend {
  readonly name: string
  /** The cache probes it. */
  readonly isProbed: boolean
  /** The host as the author wrote it, which is the Host header unless `host_header` is set. */
  readonly host: string | null
  /** The ranges to blank, in UTF-16 units. */
  readonly cuts: readonly (readonly [from: number, to: number])[]
  /** The position of its closing brace. */
  readonly end: number
}

/** More than any cache has. */
const maxBackends = 1_000
const addressFields = new Set(['host', 'port', 'path', 'proxy_header', 'via', 'authority'])

/** Throws FleetError for VCL that may have backends which cannot be found here. */
export function findBackends(text: string): readonly FoundBackend[] {
  for (const found of findStatements(text))
    if (found.kind === 'include') throw refusal(describeHidden(found.name))
  const backends: FoundBackend[] = []
  const tokens = lexVcl(text)
  let depth = 0
  let [word, name]: (Token | undefined)[] = []
  for (const token of tokens) {
    if (isSign(token, '{')) {
      if (depth === 0 && word?.text === 'backend' && name?.kind === 'identifier')
        backends.push(toBackend(name.text, readBlock(tokens)))
      else depth += 1
    } else if (isSign(token, '}')) depth -= 1
    ;[word, name] = [name, token]
  }
  if (backends.length > maxBackends)
    throw refusal(`the VCL has ${backends.length} backends, a test takes at most ${maxBackends}`)
  return backends
}

function describeHidden(include: string): string {
  return `it includes ${JSON.stringify(include)}, whose backends a test cannot replace`
}

function refusal(message: string): FleetError {
  return new FleetError('invalid', 'vcl', message)
}

function isSign({ kind, text }: Token, sign: string): boolean {
  return kind === 'punctuation' && text === sign
}

interface Field {
  readonly name: string
  readonly value: Token | undefined
  /** From the dot to the semicolon, in UTF-16 units. */
  readonly place: readonly [from: number, to: number]
}

interface Block {
  readonly fields: readonly Field[]
  readonly end: number
}

/** Reads from after the opening brace to the closing one. */
function readBlock(tokens: Iterator<Token, void>): Block {
  const fields: Field[] = []
  let begin: Token[] = []
  let end = 0
  for (const token of listOuter(tokens)) {
    end = token.start
    // A value in braces also ends a field.
    const isClosing = isSign(token, '}')
    if (begin.length < fieldTokens && !isClosing) begin.push(token)
    if (!isClosing && !isSign(token, ';')) continue
    const [dot, name, , value] = begin
    if (dot && name) fields.push({ name: name.text, value, place: [dot.start, token.end] })
    begin = []
  }
  return { fields, end }
}

/** Dot, name, equals sign and value. */
const fieldTokens = 4

/** The tokens of a block outside its inner blocks, including the closing braces of all of them. */
function* listOuter(tokens: Iterator<Token, void>): Generator<Token> {
  let depth = 1
  for (let next = tokens.next(); next.done !== true; next = tokens.next()) {
    if (isSign(next.value, '}')) depth -= 1
    if (depth <= 1) yield next.value
    if (isSign(next.value, '{')) depth += 1
    if (depth === 0) return
  }
}

function toBackend(name: string, { fields, end }: Block): FoundBackend {
  const find = (wanted: string) => fields.find((field) => field.name === wanted)
  const host = find('host')?.value
  return {
    name,
    isProbed: find('probe') !== undefined,
    host: host?.kind === 'string' && !find('host_header') ? host.value : null,
    cuts: fields.filter((field) => addressFields.has(field.name)).map(({ place }) => place),
    end,
  }
}

/** `ports`: ports on loopback, by backend name. */
export function replaceBackends(
  text: string,
  backends: readonly FoundBackend[],
  ports: ReadonlyMap<string, number>,
): string {
  const pieces: string[] = []
  let at = 0
  for (const { name, cuts, end, host } of backends) {
    for (const [from, to] of cuts) {
      pieces.push(text.slice(at, from), text.slice(from, to).replace(/[^\n\t]/g, ' '))
      at = to
    }
    const address = `.host = "127.0.0.1"; .port = "${ports.get(name) ?? 9}";`
    const isPlain = host !== null && /^[!-~]+$/.test(host) && !host.includes('"')
    const header = isPlain ? ` .host_header = "${host}";` : ''
    pieces.push(text.slice(at, end), ` ${address}${header} `)
    at = end
  }
  return [...pieces, text.slice(at)].join('')
}
