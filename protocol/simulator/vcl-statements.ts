/** Subroutines and their statements (libvcc/vcc_parse.c, vcc_action.c). */
import { pointAt, pointAtRange, VclRefused, type VclToken } from './vcl-lexer.js'
import { nestingLimit, parseArguments, parseExpression } from './vcl-expression.js'
import { isCallable, referTo, resolveName, type VclScope } from './vcl-scope.js'
import { decodeString, refuseSymbol, type TokenCursor } from './vcl-tokens.js'
import { isVariable, reservedWords, returnNames, returnsOf, subroutineNames } from './vcl-words.js'

/** Where a statement stands. */
interface Place {
  readonly subroutine: VclToken
  /** The subroutine's own block is 1. */
  readonly depth: number
  /** Not inside an `if`. */
  readonly isCertain: boolean
}

export function parseSubroutine(cursor: TokenCursor, scope: VclScope): void {
  cursor.advance()
  const subroutine = cursor.take('ID')
  if (cursor.is('.')) refuseDottedName(cursor, subroutine)
  if (subroutine.text.startsWith('vcl_') && !subroutineNames.includes(subroutine.text))
    throw new VclRefused(
      `The names 'vcl_*' are reserved for subroutines.\n${pointAt(subroutine)}Valid vcl_* subroutines are:\n${subroutineNames.map((name) => `\t${name}\n`).join('')}`,
    )
  parseBlock(cursor, scope, { subroutine, depth: 1, isCertain: true })
}

function refuseDottedName(cursor: TokenCursor, first: VclToken): never {
  let name = first.text
  while (cursor.is('.') && cursor.peek(1).kind === 'ID') {
    cursor.advance()
    name += `.${cursor.advance().text}`
  }
  throw new VclRefused(
    `Name of subroutine, '${name}', contains illegal character '.'\n${pointAtRange(first, cursor.previous)}`,
  )
}

function parseBlock(cursor: TokenCursor, scope: VclScope, place: Place): void {
  cursor.take('{')
  if (place.depth > nestingLimit)
    throw cursor.refuse(`Blocks nested deeper than ${nestingLimit}`, cursor.previous)
  while (!cursor.is('}')) parseStatement(cursor, scope, place)
  cursor.advance()
}

function parseStatement(cursor: TokenCursor, scope: VclScope, place: Place): void {
  const { token } = cursor
  if (token.kind === '{') {
    parseBlock(cursor, scope, { ...place, depth: place.depth + 1 })
    return
  }
  if (token.kind === 'CSRC') throw cursor.refuse('Inline-C not allowed')
  if (token.kind === 'EOI') throw new VclRefused('End of input while in compound statement\n')
  if (token.kind !== 'ID') throw cursor.refuse(`Expected an action, 'if', '{' or '}'`)
  const parseAction = actions.get(token.text)
  if (parseAction === undefined) {
    parseCallStatement(cursor, scope)
    return
  }
  cursor.advance()
  parseAction(cursor, scope, place)
}

type ParseAction = (cursor: TokenCursor, scope: VclScope, place: Place) => void

const actions: ReadonlyMap<string, ParseAction> = new Map<string, ParseAction>([
  ['if', parseIf],
  ['set', parseSet],
  ['unset', parseUnset],
  ['call', parseCall],
  ['return', parseReturn],
  ['new', parseNew],
  ['ban', parseCallOfOne],
  ['hash_data', parseCallOfOne],
  ['synthetic', parseCallOfOne],
])

/** `std.log("x");`, `rr.add_backend(b);` */
function parseCallStatement(cursor: TokenCursor, scope: VclScope): void {
  const chain = cursor.takeChain()
  if (isCallable(scope, chain.name)) {
    resolveName(scope, chain.name)
    noteDirectorMember(cursor, scope, chain.name)
    parseArguments(cursor, scope)
    cursor.take(';')
    return
  }
  const isKnown = reservedWords.has(chain.name) || resolveName(scope, chain.name)
  if (isKnown) throw cursor.refuse('Symbol cannot be used here.')
  const where = refuseSymbol(chain.name, chain.first, chain.last).message
  throw new VclRefused(`${where}Symbol not found.\n${pointAt(cursor.token)}`)
}

function noteDirectorMember(cursor: TokenCursor, scope: VclScope, name: string): void {
  const [object = '', method] = name.split('.', 2)
  const at = scope.backends.findIndex((backend) => backend.name === object)
  const director = scope.backends[at]
  if (method !== 'add_backend' || director?.members === undefined) return
  const member = cursor.peek(1).text
  scope.backends[at] = { ...director, members: [...director.members, member] }
}

function parseIf(cursor: TokenCursor, scope: VclScope, place: Place): void {
  const inside = { ...place, depth: place.depth + 1, isCertain: false }
  parseBranch(cursor, scope, inside)
  for (;;) {
    if (cursor.isWord('elseif') || cursor.isWord('elsif') || cursor.isWord('elif')) {
      cursor.advance()
      parseBranch(cursor, scope, inside)
    } else if (cursor.isWord('else')) {
      cursor.advance()
      if (cursor.is('{')) {
        parseBlock(cursor, scope, inside)
        return
      }
      if (!cursor.isWord('if')) throw cursor.refuse(`'else' must be followed by 'if' or '{'`)
      cursor.advance()
      parseBranch(cursor, scope, inside)
    } else return
  }
}

function parseBranch(cursor: TokenCursor, scope: VclScope, inside: Place): void {
  cursor.take('(')
  parseExpression(cursor, scope, 'BOOL')
  cursor.take(')')
  parseBlock(cursor, scope, inside)
}

const assignments: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/='])

function parseSet(cursor: TokenCursor, scope: VclScope): void {
  const name = takeVariable(cursor)
  if (!assignments.has(cursor.token.kind)) cursor.take('=')
  cursor.advance()
  const isBackend = name === 'req.backend_hint' || name === 'bereq.backend'
  parseExpression(cursor, scope, isBackend ? 'BACKEND' : 'STRING')
  cursor.take(';')
}

function parseUnset(cursor: TokenCursor): void {
  takeVariable(cursor)
  cursor.take(';')
}

function takeVariable(cursor: TokenCursor): string {
  const chain = cursor.takeChain()
  if (!isVariable(chain.name)) throw refuseSymbol(chain.name, chain.first, chain.last)
  return chain.name
}

function parseCall(cursor: TokenCursor, scope: VclScope): void {
  const chain = cursor.takeChain()
  if (chain.first === chain.last) referTo(scope, 'sub', chain.first)
  else if (!resolveName(scope, chain.name)) throw refuseSymbol(chain.name, chain.first, chain.last)
  if (cursor.is('(')) parseArguments(cursor, scope)
  cursor.take(';')
}

function parseCallOfOne(cursor: TokenCursor, scope: VclScope): void {
  cursor.take('(')
  parseExpression(cursor, scope)
  cursor.take(')')
  cursor.take(';')
}

/** Directors are in the list of backends under their type with dashes: `round-robin`. */
function parseNew(cursor: TokenCursor, scope: VclScope): void {
  const name = cursor.take('ID')
  cursor.take('=')
  const chain = cursor.takeChain()
  if (!isCallable(scope, chain.name)) throw refuseSymbol(chain.name, chain.first, chain.last)
  parseArguments(cursor, scope)
  cursor.take(';')
  scope.objects.add(name.text)
  const [module = '', type = ''] = chain.name.split('.')
  if (scope.modules.get(module) === 'directors')
    scope.backends.push({
      name: name.text,
      type: type.replace('_', '-'),
      probe: undefined,
      members: [],
    })
}

function parseReturn(cursor: TokenCursor, scope: VclScope, place: Place): void {
  const legal = returnsOf[place.subroutine.text]
  if (cursor.is(';') && legal === undefined) {
    cursor.advance()
    return
  }
  cursor.take('(')
  const action = cursor.take('ID')
  if (!returnNames.has(action.text)) throw cursor.refuse('Expected return action name.', action)
  const message = parseReturnArguments(cursor, scope, action)
  cursor.take(')')
  cursor.take(';')
  if (legal?.includes(action.text) === false) refuseReturn(action, place.subroutine, legal)
  if (place.subroutine.text === 'vcl_init') noteInitReturn(scope, place, { action, message })
}

interface Returned {
  readonly action: VclToken
  readonly message: string | undefined
}

/** The first return that is always reached decides; what stands behind it is never run. */
function noteInitReturn(scope: VclScope, place: Place, { action, message }: Returned): void {
  if (!place.isCertain || scope.hasInitEnded) return
  scope.hasInitEnded = true
  if (action.text === 'fail') scope.initFailure = message ?? 'Failed from VCL'
}

/** Answers the text of a `fail("…")`. */
function parseReturnArguments(
  cursor: TokenCursor,
  scope: VclScope,
  action: VclToken,
): string | undefined {
  const isNeeded = action.text === 'synth' || action.text === 'vcl'
  if (!cursor.is('(')) {
    if (isNeeded) throw cursor.refuse('Missing argument.')
    return undefined
  }
  const opening = cursor.advance()
  const wanted = argumentTypes[action.text]
  if (wanted === undefined) throw cursor.refuse('Arguments not allowed.', opening)
  if (action.text === 'vcl') takeLabel(cursor, scope)
  else parseExpression(cursor, scope, wanted)
  if (wanted === 'INT' && cursor.is(',')) {
    cursor.advance()
    parseExpression(cursor, scope)
  }
  const { previous } = cursor
  cursor.take(')')
  return previous.kind === 'CSTR' ? decodeString(previous) : undefined
}

const argumentTypes: Readonly<Record<string, string>> = {
  synth: 'INT',
  error: 'INT',
  fail: 'STRING',
  pass: 'DURATION',
  vcl: 'VCL',
}

function takeLabel(cursor: TokenCursor, scope: VclScope): void {
  const label = cursor.takeChain()
  if (!scope.labels.has(label.name)) throw refuseSymbol(label.name, label.first, label.last)
  scope.usedLabels.add(label.name)
}

function refuseReturn(action: VclToken, subroutine: VclToken, legal: readonly string[]): never {
  const list = legal.map((name) => `"${name}"`).join(' ')
  throw new VclRefused(
    [
      `Invalid return "${action.text}"\n${pointAt(action)}\n`,
      `...in subroutine "${subroutine.text}"\n${pointAt(subroutine)}\n`,
      `...which is the "${subroutine.text}" subroutine\nLegal returns are: ${list}\n`,
    ].join(''),
  )
}
