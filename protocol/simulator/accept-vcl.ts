/**
 * Decides crudely whether the engine's compiler would accept a program, and refuses in the compiler's words and shape.
 *
 * Checked: the version declaration, lexing as the compiler does it (comments, strings, long strings, inline C refused),
 * the grammar of declarations, statements and expressions, names (variables, backends, lists, probes, subroutines,
 * modules, objects, labels), unused and undefined definitions, what the vcl_* subroutines return, and unconditional
 * `return (fail(…))` in vcl_init. Blocks nested deeper than 100 are refused (choices: 3).
 *
 * Not checked: types, functions of modules and their arguments, which variable may be used where, returns of one's own
 * subroutines, recursion, host names (no DNS), address lists' addresses, regular expressions
 * beyond regex-check.ts, and everything the C compiler would find.
 */
import type { NewBackend } from './engine-state.js'
import { describeToken, pointAt, pointAtRange, VclRefused } from './vcl-lexer.js'
import type { VclSource, VclToken } from './vcl-lexer.js'
import { parseBackend, parseProbe } from './vcl-backend.js'
import { createVclScope, listReferenceErrors, type VclScope } from './vcl-scope.js'
import { parseSubroutine } from './vcl-statements.js'
import { lexProgram, TokenCursor } from './vcl-tokens.js'
import { moduleNames, topLevelWords } from './vcl-words.js'

export interface VclSurroundings {
  readonly labels: readonly string[]
  /** Unused definitions are errors (vcc_err_unref). */
  readonly refusesUnused: boolean
  readonly readVclFile: (path: string) => string | undefined
  /** `backend name none;` is known. */
  readonly hasNoneBackend: boolean
}

export type Acceptance =
  | {
      readonly isAccepted: true
      readonly sources: readonly VclSource[]
      readonly backends: readonly NewBackend[]
      /** Labels in `return (vcl(…))`, each once. */
      readonly labels: readonly string[]
      readonly initFailure: string | undefined
      /** The compiler's remarks; empty without any. */
      readonly warnings: string
    }
  | { readonly isAccepted: false; readonly message: string }

export function acceptVcl(main: VclSource, surroundings: VclSurroundings): Acceptance {
  try {
    const { tokens, sources } = lexProgram(main, surroundings.readVclFile)
    const scope = createVclScope(tokens, surroundings)
    parseProgram(new TokenCursor(tokens), scope)
    const warnings = checkReferences(scope, surroundings.refusesUnused)
    if (scope.defaultBackend === undefined)
      throw new VclRefused(
        'No backends or directors found in VCL program, at least one is necessary.\n',
      )
    return {
      isAccepted: true,
      sources,
      backends: scope.backends,
      labels: [...scope.usedLabels],
      initFailure: scope.initFailure,
      warnings,
    }
  } catch (error) {
    if (error instanceof VclRefused) return { isAccepted: false, message: error.message }
    throw error
  }
}

function checkReferences(scope: VclScope, refusesUnused: boolean): string {
  const { undefinedNames, unusedNames } = listReferenceErrors(scope)
  if (undefinedNames !== '' || (refusesUnused && unusedNames.length > 0))
    throw new VclRefused(undefinedNames + unusedNames.join(''))
  return unusedNames.map((unused) => `${unused}(That was just a warning)\n`).join('')
}

function parseProgram(cursor: TokenCursor, scope: VclScope): void {
  if (!cursor.isWord('vcl') || cursor.token.source.name === '<builtin>') refuseNoVersion(cursor)
  const version = parseVersion(cursor)
  while (!cursor.is('EOI')) {
    if (cursor.is('CSRC')) throw cursor.refuse('Inline-C not allowed')
    const { token } = cursor
    if (token.kind !== 'ID' || !topLevelWords.includes(token.text)) refuseTopLevel(token)
    if (token.text === 'vcl') parseVersion(cursor, version)
    else parseDeclaration(cursor, scope)
  }
}

/** An empty program is answered as one without backends: the built-in VCL behind it declares the version. */
function refuseNoVersion(cursor: TokenCursor): void {
  if (cursor.token.source.name === '<builtin>') return
  throw cursor.refuse(
    'VCL version declaration missing\nUpdate your VCL to Version 4 syntax, and add\n\tvcl 4.1;\non the first line of the VCL files.',
  )
}

function parseVersion(cursor: TokenCursor, highest?: number): number {
  const first = cursor.advance()
  if (!cursor.is('FNUM') || cursor.token.text.length !== 3) refuseVersionNumber(cursor)
  const number = cursor.advance()
  const version = Number(number.text)
  const refuse = (message: string) =>
    new VclRefused(`${message}\n${pointAtRange(first, cursor.previous)}`)
  if (version < 4 || version > 4.1) throw refuse(`VCL version ${version.toFixed(1)} not supported.`)
  if (!cursor.is(';')) throw refuse(`Expected 'vcl N.N;' found no semi-colon`)
  if (highest !== undefined && version > highest) {
    cursor.advance()
    throw refuse(
      `VCL version ${version.toFixed(1)} higher than the top level version ${highest.toFixed(1)}`,
    )
  }
  cursor.advance()
  return version
}

function refuseVersionNumber(cursor: TokenCursor): never {
  const where = pointAt(cursor.token)
  const notNumber = `Expected FNUM got ${describeToken(cursor.token)}\n(program line 1), at\n${where}`
  throw new VclRefused(
    `${cursor.is('FNUM') ? '' : notNumber}Don't play silly buggers with VCL version numbers\n${where}`,
  )
}

function refuseTopLevel(token: VclToken): never {
  const words = topLevelWords.map((word) => `'${word}'`)
  const list = `${words.slice(0, -1).join(', ')},  or ${words.at(-1) ?? ''}`
  throw new VclRefused(
    `Expected one of\n\t${list}\nFound: ${describeToken(token)} at\n${pointAt(token)}`,
  )
}

function parseDeclaration(cursor: TokenCursor, scope: VclScope): void {
  const { text } = cursor.token
  if (text === 'sub') parseSubroutine(cursor, scope)
  else if (text === 'backend') parseBackend(cursor, scope)
  else if (text === 'probe') parseProbe(cursor, scope)
  else if (text === 'acl') parseAddressList(cursor)
  else parseImport(cursor, scope)
}

function parseAddressList(cursor: TokenCursor): void {
  cursor.advance()
  cursor.take('ID')
  while (cursor.is('+') || cursor.is('-')) {
    cursor.advance()
    cursor.take('ID')
    if (cursor.is('(')) skipParentheses(cursor)
  }
  cursor.take('{')
  while (!cursor.is('}')) {
    const hasParentheses = cursor.is('(')
    if (hasParentheses) cursor.advance()
    if (cursor.is('!')) cursor.advance()
    cursor.take('CSTR')
    if (cursor.is('/')) {
      cursor.advance()
      cursor.take('CNUM')
    }
    if (hasParentheses) cursor.take(')')
    cursor.take(';')
  }
  cursor.advance()
}

function skipParentheses(cursor: TokenCursor): void {
  while (!cursor.is(')') && !cursor.is('EOI')) cursor.advance()
  cursor.take(')')
}

function parseImport(cursor: TokenCursor, scope: VclScope): void {
  cursor.advance()
  const module = cursor.take('ID')
  let name = module.text
  if (cursor.isWord('as')) {
    cursor.advance()
    name = cursor.take('ID').text
  }
  if (cursor.isWord('from')) {
    cursor.advance()
    cursor.take('CSTR')
  } else if (!cursor.is(';')) {
    throw cursor.refuse("Expected 'from path ...'")
  }
  if (!moduleNames.has(module.text))
    throw cursor.refuse(`Could not find VMOD ${module.text}`, module)
  scope.modules.set(name, module.text)
  cursor.take(';')
}
