/**
 * Decides roughly, with the project's own scanner, whether a compiler would accept a program, and finds what a simulated cache
 * reports about it: its backends, its labels, the reason why its vcl_init fails.
 *
 * Not checked: types, functions of modules and their arguments, where a variable may be used, recursion, host names,
 * addresses. Files of the host cannot be included.
 */
import type { CompileVcl, NewBackend } from '../../../protocol/simulator/engine-state.js'
import { checkReferences, createProgram, define, refer, type VclProgram } from './vcl-program.js'
import { VclReader, VclRefused, type Name } from './vcl-reader.js'
import { readBlock } from './vcl-statements.js'
import { backendFields, isBuiltinSubroutine, moduleNames, probeFields } from './vcl-words.js'

export const compileVcl: CompileVcl = (text, context) => {
  try {
    const program = createProgram(new VclReader(text), context)
    readProgram(program)
    const warnings = describeUnused(program)
    if (program.defaultBackend === undefined)
      throw new VclRefused(
        'No backends or directors found in VCL program, at least one is necessary.\n',
      )
    return {
      backends: program.backends,
      labels: [...program.usedLabels],
      initFailure: program.initFailure ?? undefined,
      warnings,
    }
  } catch (error) {
    if (error instanceof VclRefused) return { refusal: error.message }
    throw error
  }
}

function describeUnused(program: VclProgram): string {
  const unused = checkReferences(program).map(
    (name) => `Unused ${name.kind} ${name.text}, defined:\n${program.reader.pointAt(name)}`,
  )
  if (unused.length > 0 && program.context.refusesUnused) throw new VclRefused(unused.join(''))
  return unused.map((text) => `${text}(That was just a warning)\n`).join('')
}

function readProgram(program: VclProgram): void {
  const { reader } = program
  const highest = takeVersion(reader)
  while (reader.kind !== 'end') {
    if (reader.is('vcl')) takeVersion(reader, highest)
    else {
      const readDeclaration = declarations.get(reader.token.text)
      if (!readDeclaration)
        throw reader.refuse(
          `Expected one of ${[...declarations.keys()].join(', ')}\nFound: '${reader.token.text}' at`,
        )
      reader.advance()
      readDeclaration(program)
    }
  }
}

function takeVersion(reader: VclReader, highest = '4.1'): string {
  if (!reader.skip('vcl'))
    throw reader.refuse('VCL version declaration missing\nAdd `vcl 4.1;` on the first line')
  const { text } = reader.token
  if (text !== '4.0' && text !== '4.1') throw reader.refuse(`VCL version ${text} not supported.`)
  if (text > highest)
    throw reader.refuse(`VCL version ${text} higher than the top level version ${highest}`)
  reader.advance()
  reader.take(';')
  return text
}

const declarations: ReadonlyMap<string, (program: VclProgram) => void> = new Map([
  ['acl', readAddressList],
  ['sub', readSubroutine],
  ['backend', readBackend],
  ['probe', readProbe],
  ['import', readImport],
])

function readSubroutine(program: VclProgram): void {
  const { reader } = program
  const name = reader.takeName()
  // Built-in subroutines may be extended any number of times.
  if (!isBuiltinSubroutine(name.text)) {
    if (name.text.startsWith('vcl_'))
      throw reader.refuse("The names 'vcl_*' are reserved for subroutines.", name)
    define(program, 'sub', name)
  }
  readBlock(program, { subroutine: name.text, depth: 1 })
}

function readImport({ reader, modules }: VclProgram): void {
  const module = reader.takeName()
  const alias = reader.skip('as') ? reader.takeName() : module
  if (reader.skip('from') && reader.kind === 'string') reader.advance()
  if (!moduleNames.has(module.text))
    throw reader.refuse(`Could not find VMOD ${module.text}`, module)
  modules.set(alias.text, module.text)
  reader.take(';')
}

function readAddressList(program: VclProgram): void {
  const { reader } = program
  define(program, 'acl', reader.takeName())
  // Flags such as `+log` and `-pedantic`.
  while (!reader.is('{') && !reader.is(';') && reader.kind !== 'end') reader.advance()
  reader.take('{')
  while (!reader.skip('}')) {
    while (reader.skip('(', ')', '!', '/') || skipKind(reader, 'string', 'number'));
    reader.take(';')
  }
}

function skipKind(reader: VclReader, ...kinds: readonly VclReader['kind'][]): boolean {
  const isOne = kinds.includes(reader.kind)
  if (isOne) reader.advance()
  return isOne
}

function readBackend(program: VclProgram): void {
  const { reader, backends, context } = program
  const name = reader.takeName()
  define(program, 'backend', name)
  if (name.text === 'default') program.defaultBackend = name.text
  program.defaultBackend ??= name.text
  // A backend without an endpoint is not listed.
  if (context.hasNoneBackend && reader.skip('none')) {
    reader.take(';')
    return
  }
  const { fields, probe } = readFields(program, backendFields)
  if (!fields.has('host') && !fields.has('path'))
    throw reader.refuse('Expected .host or .path.', name)
  backends.push({ name: name.text, type: 'backend', probe, members: undefined })
}

type Probe = NonNullable<NewBackend['probe']>

const defaultProbe: Probe = { window: 8, threshold: 3 }

function readProbe(program: VclProgram): void {
  const name = program.reader.takeName()
  // `probe default` applies to all backends that name no probe.
  if (name.text !== 'default') define(program, 'probe', name)
  program.probes.set(name.text, readProbeFields(program))
}

const largestWindow = 64

function readProbeFields(program: VclProgram): Probe {
  const { reader } = program
  const { fields } = readFields(program, probeFields)
  const [window, threshold] = [fields.get('window'), fields.get('threshold')]
  if (!threshold) {
    if (window) throw reader.refuse('Must specify .threshold with .window', window)
    return defaultProbe
  }
  const least = Number(threshold.text)
  const most = window ? Number(window.text) : least + 1
  if (most > largestWindow)
    throw reader.refuse(`Window must be ${largestWindow} or less.`, window ?? threshold)
  if (least > most) throw reader.refuse('Threshold can not be greater than window.', threshold)
  return { window: most, threshold: least }
}

interface Fields {
  /** The first word of each value. */
  readonly fields: ReadonlyMap<string, Name>
  readonly probe: Probe | undefined
}

/** `{ .name = value; … }` */
function readFields(program: VclProgram, known: ReadonlySet<string>): Fields {
  const { reader } = program
  const fields = new Map<string, Name>()
  let probe: Probe | undefined
  reader.take('{')
  while (!reader.skip('}')) {
    reader.take('.')
    const field = reader.takeName()
    if (!known.has(field.text)) throw reader.refuse(`Unknown field: '${field.text}' at`, field)
    reader.take('=')
    fields.set(field.text, reader.token)
    if (field.text === 'probe') probe = readProbeOfBackend(program)
    else {
      reader.skip('-')
      if (!skipKind(reader, 'string', 'number', 'identifier', 'blob'))
        throw reader.refuseInstead('a value')
      // Further strings, as in `.request`, or the unit of a number.
      while (skipKind(reader, 'string', 'identifier'));
      reader.take(';')
    }
  }
  return { fields, probe }
}

/** `{ … }` in place, or the name of a probe that may be defined further down. */
function readProbeOfBackend(program: VclProgram): Probe {
  const { reader } = program
  if (reader.is('{')) {
    const probe = readProbeFields(program)
    reader.skip(';')
    return probe
  }
  const name = reader.takeName()
  refer(program, name)
  reader.take(';')
  return program.probes.get(name.text) ?? defaultProbe
}
