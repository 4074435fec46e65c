/** A place in the tokens of a program, with includes put in, and the compiler's complaints about what stands there. */
import {
  describeToken,
  lexVcl,
  pointAt,
  pointAtRange,
  VclRefused,
  type VclSource,
  type VclToken,
} from './vcl-lexer.js'

/** Chosen by us: the compiler has no limit of its own. Includes are counted over the whole program. */
const includeLimit = 1000

/**
 * Stands for the built-in VCL behind every program. Its first line with a word is the 33rd, as the real one's: a program
 * that ends inside a block is told about that place.
 */
export const builtinSource: VclSource = {
  name: '<builtin>',
  text: `${'#\n'.repeat(32)}vcl 4.0;\n`,
}

export interface LexedProgram {
  readonly tokens: readonly VclToken[]
  readonly sources: readonly VclSource[]
}

export function lexProgram(
  main: VclSource,
  readVclFile: (path: string) => string | undefined,
): LexedProgram {
  const sources: VclSource[] = []
  const addSource = (source: VclSource, parents: readonly string[]): VclToken[] => {
    if (parents.includes(source.name))
      throw new VclRefused(`Recursive use of file "${source.name}"\n\n`)
    if (sources.push(source) > includeLimit)
      throw new VclRefused(`More than ${includeLimit} includes\n`)
    const tokens = lexVcl(source).slice(0, -1)
    const start = tokens.findIndex((token) => token.text === 'include' && token.kind === 'ID')
    if (start < 0) return tokens
    return expandIncludes(tokens, (path) => {
      const text = readVclFile(path)
      if (text === undefined)
        throw new VclRefused(`Cannot read file '${path}' (No such file or directory)\n`)
      return addSource({ name: path, text }, [...parents, source.name])
    })
  }
  const tokens = [...addSource(main, []), ...lexVcl(builtinSource)]
  sources.push(builtinSource)
  return { tokens, sources }
}

function expandIncludes(
  tokens: readonly VclToken[],
  include: (path: string) => VclToken[],
): VclToken[] {
  const expanded: VclToken[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined) break
    if (token.kind === 'ID' && token.text === 'include') {
      const { name, isGlob, end } = readInclude(tokens, at)
      // One by one: a spread of a large file's tokens would not fit on the stack.
      for (const included of includeAt(name, isGlob, include)) expanded.push(included)
      at = end
    } else expanded.push(token)
  }
  return expanded
}

/** `include [+glob] "name";` from its first word; `end` is where its semicolon is. */
function readInclude(tokens: readonly VclToken[], at: number) {
  const isGlob = tokens[at + 1]?.kind === '+' && tokens[at + 2]?.text === 'glob'
  const end = at + (isGlob ? 4 : 2)
  const name = tokens[end - 1] ?? tokens[at]
  if (name?.kind !== 'CSTR')
    throw new VclRefused(
      `include not followed by string constant.\n${name === undefined ? '' : pointAt(name)}`,
    )
  if (tokens[end]?.kind !== ';')
    throw new VclRefused(`include <string> not followed by semicolon.\n${pointAt(name)}`)
  return { name, isGlob, end }
}

function includeAt(
  name: VclToken,
  isGlob: boolean,
  include: (path: string) => VclToken[],
): VclToken[] {
  const path = decodeString(name)
  const refuse = (message: string) => new VclRefused(`${message}\n${pointAt(name)}`)
  if (isGlob) throw refuse('glob pattern matched no files.')
  const folder = /^(.*)\//.exec(name.source.name)?.[1]
  if (path.startsWith('./') && !name.source.name.startsWith('/'))
    throw refuse('include "./xxxxx"; needs absolute filename of including file.')
  try {
    return include(path.startsWith('./') ? `${folder ?? ''}${path.slice(1)}` : path)
  } catch (error) {
    if (error instanceof VclRefused && /^(?:Cannot read|Recursive)/.test(error.message))
      throw new VclRefused(error.message + pointAt(name))
    throw error
  }
}

/** The text of a string token without its delimiters. */
export function decodeString(token: VclToken): string {
  const width = token.text.startsWith('"""') ? 3 : token.text.startsWith('{"') ? 2 : 1
  return token.text.slice(width, -width)
}

/** Goes through the tokens of a program once, forwards. */
export class TokenCursor {
  #at = 0

  constructor(private readonly tokens: readonly VclToken[]) {}

  get token(): VclToken {
    return this.peek(0)
  }

  get previous(): VclToken {
    return this.peek(-1)
  }

  peek(distance: number): VclToken {
    const last = this.tokens.length - 1 // the end of input
    const token = this.tokens[Math.min(Math.max(this.#at + distance, 0), last)]
    if (token === undefined) throw new TypeError('a program without tokens')
    return token
  }

  is(kind: string): boolean {
    return this.token.kind === kind
  }

  isWord(word: string): boolean {
    return this.token.kind === 'ID' && this.token.text === word
  }

  advance(): VclToken {
    const { token } = this
    this.#at++
    return token
  }

  /** Takes a token of that kind or refuses the program. */
  take(kind: string): VclToken {
    if (this.is(kind)) return this.advance()
    const wanted = /^[A-Z]/.test(kind) ? kind : `'${kind}'`
    // The compiler names a line of its own source there, different in each release.
    throw this.refuse(`Expected ${wanted} got ${describeToken(this.token)}\n(program line 1), at`)
  }

  /** `name.of.something`, and its tokens. */
  takeChain(): { readonly name: string; readonly first: VclToken; readonly last: VclToken } {
    const first = this.take('ID')
    let name = first.text
    // `req.http."odd name"` is a header too.
    while (this.is('.') && (this.peek(1).kind === 'ID' || this.peek(1).kind === 'CSTR')) {
      this.advance()
      name += `.${this.advance().text}`
    }
    return { name, first, last: this.previous }
  }

  refuse(message: string, token: VclToken = this.token): VclRefused {
    return new VclRefused(`${message}\n${pointAt(token)}`)
  }
}

export function refuseSymbol(name: string, first: VclToken, last: VclToken): VclRefused {
  return new VclRefused(`Symbol not found: '${name}'\nAt: ${pointAtRange(first, last)}`)
}
