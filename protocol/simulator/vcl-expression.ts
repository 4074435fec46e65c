/** Expressions: their grammar and their names, not their types (libvcc/vcc_expr.c). */
import { describeToken, pointAtRange, VclRefused } from './vcl-lexer.js'
import { findRegexMistake } from './regex-check.js'
import { referTo, resolveName, type VclScope } from './vcl-scope.js'
import { isVariableMethod } from './vcl-words.js'
import { decodeString, refuseSymbol, type TokenCursor } from './vcl-tokens.js'

/** Chosen by us: blocks by choices: 3, parentheses alike. */
export const nestingLimit = 100

const binary: ReadonlySet<string> = new Set([
  ...['||', '&&', '==', '!=', '<', '>', '<=', '>=', '+', '-', '*', '/', '%'],
])
const matching: ReadonlySet<string> = new Set(['~', '!~'])

/** `wanted` names the type in the refusal of something that begins no expression. */
export function parseExpression(
  cursor: TokenCursor,
  scope: VclScope,
  wanted = 'STRING',
  depth = 0,
): void {
  for (;;) {
    parseOperand(cursor, scope, { wanted, depth })
    if (matching.has(cursor.token.kind)) parseMatch(cursor, scope)
    if (!binary.has(cursor.token.kind)) return
    cursor.advance()
  }
}

interface Operand {
  readonly wanted: string
  readonly depth: number
}

function parseOperand(cursor: TokenCursor, scope: VclScope, { wanted, depth }: Operand): void {
  while (cursor.is('!') || cursor.is('-')) cursor.advance()
  const { token } = cursor
  if (token.kind === '(') {
    if (depth >= nestingLimit) throw cursor.refuse(`Parentheses nested deeper than ${nestingLimit}`)
    cursor.advance()
    parseExpression(cursor, scope, wanted, depth + 1)
    cursor.take(')')
  } else if (token.kind === 'ID') parseName(cursor, scope, { wanted, depth })
  else if (token.kind === 'CSTR' || token.kind === 'CBLOB') cursor.advance()
  else if (token.kind === 'CNUM' || token.kind === 'FNUM') {
    cursor.advance()
    if (cursor.is('ID') && units.has(cursor.token.text)) cursor.advance()
  } else {
    throw cursor.refuse(`Unknown token ${describeToken(token)} when looking for ${wanted}\n`)
  }
  parseProperties(cursor, scope, depth)
}

const units: ReadonlySet<string> = new Set([
  ...['ms', 's', 'm', 'h', 'd', 'w', 'y', 'B', 'KB', 'MB', 'GB', 'TB', 'K', 'M', 'G', 'T'],
])

function parseName(cursor: TokenCursor, scope: VclScope, { wanted, depth }: Operand): void {
  const chain = cursor.takeChain()
  const isMethod = cursor.is('(') && isVariableMethod(chain.name)
  if (!isMethod && !resolveName(scope, chain.name)) {
    if (wanted !== 'BACKEND' || chain.first !== chain.last)
      throw refuseSymbol(chain.name, chain.first, chain.last)
    referTo(scope, 'backend', chain.first)
  }
  if (cursor.is('(')) parseArguments(cursor, scope, depth)
}

/** `.upper()` and the like behind a value. */
function parseProperties(cursor: TokenCursor, scope: VclScope, depth: number): void {
  while (cursor.is('.') && cursor.peek(1).kind === 'ID') {
    cursor.advance()
    cursor.advance()
    if (cursor.is('(')) parseArguments(cursor, scope, depth)
  }
}

/** `(a, name = b)`; words in capitals may be an enum's. */
export function parseArguments(cursor: TokenCursor, scope: VclScope, depth = 0): void {
  if (depth >= nestingLimit) throw cursor.refuse(`Calls nested deeper than ${nestingLimit}`)
  cursor.take('(')
  while (!cursor.is(')')) {
    if (cursor.is('ID') && cursor.peek(1).kind === '=') {
      cursor.advance()
      cursor.advance()
    }
    const isEnum = cursor.is('ID') && [',', ')'].includes(cursor.peek(1).kind)
    if (isEnum && /^[A-Za-z0-9_]+$/.test(cursor.token.text)) {
      resolveName(scope, cursor.token.text)
      cursor.advance()
    } else parseExpression(cursor, scope, 'STRING', depth + 1)
    if (!cursor.is(')')) cursor.take(',')
  }
  cursor.advance()
}

/** Behind `~` and `!~`: a regular expression, or the name of an address list. */
function parseMatch(cursor: TokenCursor, scope: VclScope): void {
  const operator = cursor.advance()
  if (cursor.is('ID') && !cursor.token.text.includes('.') && cursor.peek(1).kind !== '.') {
    referTo(scope, 'acl', cursor.advance())
    return
  }
  const pattern = cursor.take('CSTR')
  const mistake = findRegexMistake(decodeString(pattern))
  if (mistake !== undefined)
    throw new VclRefused(
      `Regexp compilation error:\n\n${mistake}\n\n${pointAtRange(operator, pattern)}`,
    )
}
