/** Reads subroutines: their statements and expressions, without types. */
import { findRegexMistake } from '../../../protocol/simulator/regex-check.js'
import { nestedBlockLimit } from '../../vcl/limits.js'
import { refer, requireCallable, type VclProgram } from './vcl-program.js'
import type { Name } from './vcl-reader.js'
import { isVariable, returnNames, returnsOf, units } from './vcl-words.js'

/** The position of a statement. */
interface Place {
  readonly subroutine: string
  /** The subroutine's own block is 1. */
  readonly depth: number
}

export function readBlock(program: VclProgram, place: Place): void {
  const { reader } = program
  if (place.depth > nestedBlockLimit)
    throw reader.refuse(`Blocks nested deeper than ${nestedBlockLimit}`)
  reader.take('{')
  while (!reader.skip('}')) readStatement(program, place)
}

function readStatement(program: VclProgram, place: Place): void {
  const { reader } = program
  if (reader.is('{')) {
    readBlock(program, deeper(place))
    return
  }
  const name = reader.takeDottedName()
  const readAction = actions.get(name.text)
  if (readAction) readAction(program, place)
  else readCall(program, name)
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 })

const actions: ReadonlyMap<string, (program: VclProgram, place: Place) => void> = new Map([
  ['if', readIf],
  ['set', readSet],
  ['unset', readUnset],
  ['call', readCallOfSubroutine],
  ['return', readReturn],
  ['new', readNew],
  ['ban', readArgumentOfAction],
  ['hash_data', readArgumentOfAction],
  ['synthetic', readArgumentOfAction],
])

/** `std.log("x");`, `rr.add_backend(b);` */
function readCall(program: VclProgram, name: Name): void {
  const { reader, backends } = program
  requireCallable(program, name)
  const [object, method] = name.text.split('.')
  readArguments(program, (member) => {
    const at = backends.findIndex((backend) => backend.name === object)
    const director = backends[at]
    if (method === 'add_backend' && director?.members)
      backends[at] = { ...director, members: [...director.members, member] }
  })
  reader.take(';')
}

function readIf(program: VclProgram, place: Place): void {
  const { reader } = program
  for (;;) {
    reader.take('(')
    readExpression(program)
    reader.take(')')
    readBlock(program, deeper(place))
    const isElse = reader.skip('else')
    if (!reader.skip(...(isElse ? ['if'] : ['elseif', 'elsif', 'elif']))) {
      if (isElse) readBlock(program, deeper(place))
      return
    }
  }
}

function readSet(program: VclProgram): void {
  const { reader } = program
  takeVariable(program)
  if (!reader.skip('+=', '-=', '*=', '/=')) reader.take('=')
  readExpression(program)
  reader.take(';')
}

function readUnset(program: VclProgram): void {
  takeVariable(program)
  program.reader.take(';')
}

function takeVariable({ reader }: VclProgram): void {
  const name = reader.takeDottedName()
  if (!isVariable(name.text)) throw reader.refuse(`Symbol not found: '${name.text}'`, name)
}

function readCallOfSubroutine(program: VclProgram): void {
  const { reader } = program
  refer(program, reader.takeDottedName())
  if (reader.is('(')) readArguments(program)
  reader.take(';')
}

function readArgumentOfAction(program: VclProgram): void {
  const { reader } = program
  reader.take('(')
  readExpression(program)
  reader.take(')')
  reader.take(';')
}

/** Directors are listed as backends, with dashes in their type: `round-robin`. */
function readNew(program: VclProgram): void {
  const { reader } = program
  const { text: name } = reader.takeName()
  reader.take('=')
  const factory = reader.takeDottedName()
  requireCallable(program, factory)
  readArguments(program)
  reader.take(';')
  program.objects.add(name)
  const [module = '', type = ''] = factory.text.split('.')
  if (program.modules.get(module) === 'directors')
    program.backends.push({ name, type: type.replace('_', '-'), probe: undefined, members: [] })
}

function readReturn(program: VclProgram, place: Place): void {
  const { reader } = program
  const legal = returnsOf.get(place.subroutine)
  if (!legal && reader.skip(';')) return
  reader.take('(')
  const action = reader.takeName()
  if (!returnNames.has(action.text)) throw reader.refuse('Expected return action name.', action)
  if (legal?.includes(action.text) === false)
    throw reader.refuse(
      `Invalid return "${action.text}" in "${place.subroutine}", legal returns are: ${legal.join(', ')}`,
      action,
    )
  const message = readReturnArgument(program, action.text)
  reader.take(')')
  reader.take(';')
  // Code after the first return that is always reached never runs.
  if (place.subroutine === 'vcl_init' && place.depth === 1)
    program.initFailure ??= action.text === 'fail' ? message || 'Failed from VCL' : null
}

const returnsWithArgument: ReadonlySet<string> = new Set(['synth', 'error', 'fail', 'pass', 'vcl'])

/** Returns the text of a `fail("…")`. */
function readReturnArgument(program: VclProgram, action: string): string {
  const { reader } = program
  if (!reader.is('(')) {
    if (action === 'synth' || action === 'vcl') throw reader.refuse('Missing argument.')
    return ''
  }
  if (!returnsWithArgument.has(action)) throw reader.refuse('Arguments not allowed.')
  reader.advance()
  const message = reader.kind === 'string' ? reader.value : ''
  if (action === 'vcl') takeLabel(program)
  else readExpression(program)
  if (action === 'synth' && reader.skip(',')) readExpression(program)
  reader.take(')')
  return message
}

function takeLabel({ reader, context, usedLabels }: VclProgram): void {
  const label = reader.takeDottedName()
  if (!context.labels.has(label.text))
    throw reader.refuse(`Symbol not found: '${label.text}'`, label)
  usedLabels.add(label.text)
}

const operators = ['||', '&&', '==', '!=', '<', '>', '<=', '>=', '+', '-', '*', '/', '%']

/** @param depth number of enclosing parentheses and calls */
function readExpression(program: VclProgram, depth = 0): void {
  const { reader } = program
  do {
    readOperand(program, depth)
    if (reader.skip('~', '!~')) readPattern(program)
  } while (reader.skip(...operators))
}

function readOperand(program: VclProgram, depth: number): void {
  const { reader } = program
  if (depth > nestedBlockLimit)
    throw reader.refuse(`Parentheses nested deeper than ${nestedBlockLimit}`)
  while (reader.skip('!', '-'));
  if (reader.skip('(')) {
    readExpression(program, depth + 1)
    reader.take(')')
  } else if (reader.kind === 'identifier') {
    const name = reader.takeDottedName()
    refer(program, name, depth > 0 && !name.text.includes('.'))
    if (reader.is('(')) readArguments(program, undefined, depth)
  } else if (reader.kind === 'number') {
    reader.advance()
    if (units.has(reader.token.text)) reader.advance()
  } else if (reader.kind === 'string' || reader.kind === 'blob') reader.advance()
  else throw reader.refuseInstead('a value')
  readProperties(program, depth)
}

/** Methods such as `.upper()` after a value. */
function readProperties(program: VclProgram, depth: number): void {
  const { reader } = program
  while (reader.skip('.')) {
    reader.takeName()
    if (reader.is('(')) readArguments(program, undefined, depth)
  }
}

/** `(a, name = b)`; @param onFirst receives the first word */
function readArguments(
  program: VclProgram,
  onFirst: (word: string) => void = () => undefined,
  depth = 0,
): void {
  const { reader } = program
  reader.take('(')
  onFirst(reader.token.text)
  while (!reader.skip(')')) {
    readExpression(program, depth + 1)
    if (reader.skip('=')) readExpression(program, depth + 1)
    if (!reader.is(')')) reader.take(',')
  }
}

/** After `~` and `!~`: a regular expression, or the name of an address list. */
function readPattern(program: VclProgram): void {
  const { reader } = program
  if (reader.kind === 'identifier') {
    refer(program, reader.takeName())
    return
  }
  if (reader.kind !== 'string') throw reader.refuseInstead('a regular expression')
  const mistake = findRegexMistake(reader.value)
  if (mistake !== undefined) throw reader.refuse(`Regexp compilation error: ${mistake}`)
  reader.advance()
}
