/** The part of a program read so far: its definitions, and the references that must be defined somewhere. */
import type { CompileContext, NewBackend } from '../../../protocol/simulator/engine-state.js'
import type { Name, VclReader } from './vcl-reader.js'
import { builtinWords, isBuiltinSubroutine, isVariable } from './vcl-words.js'

export interface VclProgram {
  readonly reader: VclReader
  readonly context: CompileContext
  /** Subroutines except `vcl_*`, backends, probes and address lists. They may be used before they are defined. */
  readonly definitions: Map<string, Name & { readonly kind: string }>
  readonly references: (Name & { readonly mayBeWord: boolean })[]
  /** Name in this program → module. */
  readonly modules: Map<string, string>
  /** Created by `new`. */
  readonly objects: Set<string>
  readonly backends: NewBackend[]
  readonly probes: Map<string, NonNullable<NewBackend['probe']>>
  /** In `return (vcl(…))`. */
  readonly usedLabels: Set<string>
  /** The backend named `default`, else the first one. */
  defaultBackend: string | undefined
  /** From the first return in vcl_init that is always reached: null if it is no failure. */
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

/** @param mayBeWord true if it may be a plain word, such as an argument's keyword */
export function refer({ references }: VclProgram, name: Name, mayBeWord = false): void {
  references.push({ ...name, mayBeWord })
}

/** `std.log`, `rr.backend`: a module's function or an object's method. Their existence is not checked. */
function isCallable({ modules, objects }: VclProgram, name: string): boolean {
  const [root = '', member] = name.split('.', 2)
  return member !== undefined && (modules.has(root) || objects.has(root))
}

export function requireCallable(program: VclProgram, name: Name): void {
  if (!isCallable(program, name.text))
    throw program.reader.refuse(`Symbol not found: '${name.text}'`, name)
}

/** Throws for the first undefined name; returns the definitions that are never used. */
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
