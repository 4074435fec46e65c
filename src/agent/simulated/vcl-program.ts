/** What was read of a program so far: what it defines, and what it uses and must be somewhere. */
import type { CompileContext, NewBackend } from '../../../protocol/simulator/engine-state.js'
import type { Name, VclReader } from './vcl-reader.js'
import { builtinWords, isBuiltinSubroutine, isVariable } from './vcl-words.js'

export interface VclProgram {
  readonly reader: VclReader
  readonly context: CompileContext
  /** Subroutines but `vcl_*`, backends, probes and address lists. They may be used before they are defined. */
  readonly definitions: Map<string, Name & { readonly kind: string }>
  readonly references: (Name & { readonly mayBeWord: boolean })[]
  /** Name in this program → module. */
  readonly modules: Map<string, string>
  /** Made by `new`. */
  readonly objects: Set<string>
  readonly backends: NewBackend[]
  readonly probes: Map<string, NonNullable<NewBackend['probe']>>
  /** In `return (vcl(…))`. */
  readonly usedLabels: Set<string>
  /** The first backend, or the one of that name. */
  defaultBackend: string | undefined
  /** Of the first return in vcl_init that is always reached: null says that it is none. */
  initFailure: string | null | undefined
}

export function createProgram(reader: VclReader, context: CompileContext): VclProgram {
  return {
    reader,
    context,
    definitions: new Map(),
    references: [],
    modules: new Map(),
    objects: new Set(),
    backends: [],
    probes: new Map(),
    usedLabels: new Set(),
    defaultBackend: undefined,
    initFailure: undefined,
  }
}

export function define({ reader, definitions }: VclProgram, kind: string, name: Name): void {
  const earlier = definitions.get(name.text)
  if (earlier)
    throw reader.refuse(
      `'${name.text}' redefined\n${reader.pointAt(name)}First definition:`,
      earlier,
    )
  definitions.set(name.text, { ...name, kind })
}

/** @param mayBeWord it may also mean nothing but itself, as an argument's own words do */
export function refer({ references }: VclProgram, name: Name, mayBeWord = false): void {
  references.push({ ...name, mayBeWord })
}

/** `std.log`, `rr.backend`: a module's function or an object's method. Which ones exist is not known here. */
function isCallable({ modules, objects }: VclProgram, name: string): boolean {
  const [root = '', member] = name.split('.', 2)
  return member !== undefined && (modules.has(root) || objects.has(root))
}

export function requireCallable(program: VclProgram, name: Name): void {
  if (!isCallable(program, name.text))
    throw program.reader.refuse(`Symbol not found: '${name.text}'`, name)
}

/** Throws for the first name that is nowhere; answers the names that nothing uses. */
export function checkReferences(
  program: VclProgram,
): readonly (Name & { readonly kind: string })[] {
  const used = new Set([program.defaultBackend])
  for (const name of program.references) {
    used.add(rootOf(name.text))
    if (!name.mayBeWord && !isKnown(program, name.text))
      throw program.reader.refuse(`Symbol not found: '${name.text}'`, name)
  }
  return [...program.definitions.values()].filter(({ text }) => !used.has(text))
}

const rootOf = (name: string) => name.split('.', 1)[0] ?? ''

function isKnown(program: VclProgram, name: string): boolean {
  // `resp.proto.lower` is a method of a variable.
  const owner = name.slice(0, name.lastIndexOf('.'))
  return (
    program.definitions.has(rootOf(name)) ||
    isVariable(name) ||
    (owner.includes('.') && isVariable(owner)) ||
    builtinWords.has(name.toLowerCase()) ||
    isBuiltinSubroutine(name) ||
    isCallable(program, name)
  )
}
