/** The names of a program: what it defines, what it uses, and what was used without being defined. */
import type { NewBackend } from './engine-state.js'
import { pointAt, VclRefused, type VclToken } from './vcl-lexer.js'
import { isBuiltinWord, isVariable } from './vcl-words.js'

export type DefinitionKind = 'acl' | 'backend' | 'probe' | 'sub'

interface Definition {
  readonly kind: DefinitionKind
  readonly token: VclToken
}

export interface VclScope {
  readonly labels: ReadonlySet<string>
  readonly definitions: ReadonlyMap<string, Definition>
  readonly references: Set<string>
  readonly undefinedReferences: Map<string, Definition>
  /** Name in this program → module. */
  readonly modules: Map<string, string>
  /** Objects made by `new`. */
  readonly objects: Set<string>
  readonly backends: NewBackend[]
  readonly probes: Map<string, NonNullable<NewBackend['probe']>>
  readonly usedLabels: Set<string>
  /** `backend name none;` is known. */
  readonly hasNoneBackend: boolean
  /** The first backend, or the one of that name. */
  defaultBackend: string | undefined
  initFailure: string | undefined
  hasInitEnded: boolean
}

/** Names may be used before they are defined, so definitions are collected first. */
export function createVclScope(
  tokens: readonly VclToken[],
  {
    labels,
    hasNoneBackend,
  }: { readonly labels: readonly string[]; readonly hasNoneBackend: boolean },
): VclScope {
  return {
    labels: new Set(labels),
    definitions: collectDefinitions(tokens),
    references: new Set(),
    undefinedReferences: new Map(),
    modules: new Map(),
    objects: new Set(),
    backends: [],
    probes: new Map(),
    usedLabels: new Set(),
    hasNoneBackend,
    defaultBackend: undefined,
    initFailure: undefined,
    hasInitEnded: false,
  }
}

const definingWords: Readonly<Record<string, DefinitionKind>> = {
  acl: 'acl',
  backend: 'backend',
  probe: 'probe',
  sub: 'sub',
}

function collectDefinitions(tokens: readonly VclToken[]): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  let depth = 0
  tokens.forEach((token, at) => {
    if (token.kind === '{') depth++
    if (token.kind === '}') depth--
    const kind = depth === 0 && token.kind === 'ID' ? definingWords[token.text] : undefined
    const name = tokens[at + 1]
    if (kind === undefined || name?.kind !== 'ID') return
    if (name.text === 'default') return // means the default, whatever it is called
    const earlier = definitions.get(name.text)
    if (earlier === undefined) definitions.set(name.text, { kind, token: name })
    else if (!(kind === 'sub' && name.text.startsWith('vcl_'))) refuseRepeated(kind, name, earlier)
  })
  return definitions
}

function refuseRepeated(kind: DefinitionKind, name: VclToken, earlier: Definition): never {
  const capital = kind.charAt(0).toUpperCase() + kind.slice(1)
  const message =
    kind === 'sub'
      ? `Subroutine '${name.text}' redefined\n${pointAt(name)}Previously defined here:\n`
      : `${capital} '${name.text}' redefined.\n${pointAt(name)}First definition:\n`
  throw new VclRefused(message + pointAt(earlier.token))
}

/** True when a name in an expression means something; remembers that it was used. */
export function resolveName(scope: VclScope, name: string): boolean {
  const root = name.split('.', 1)[0] ?? ''
  if (scope.definitions.has(root)) {
    scope.references.add(root)
    return true
  }
  return isVariable(name) || isBuiltinWord(name) || isCallable(scope, name)
}

/** `std.log`, `rr.backend`: a module's function or an object's method. Which ones exist is not known here. */
export function isCallable(scope: VclScope, name: string): boolean {
  const [root = '', member] = name.split('.', 2)
  return member !== undefined && (scope.modules.has(root) || scope.objects.has(root))
}

/** A name that may be defined anywhere, and must be somewhere. */
export function referTo(scope: VclScope, kind: DefinitionKind, token: VclToken): void {
  scope.references.add(token.text)
  if (!scope.definitions.has(token.text) && !scope.undefinedReferences.has(token.text))
    scope.undefinedReferences.set(token.text, { kind, token })
}

export function listReferenceErrors(scope: VclScope): {
  readonly undefinedNames: string
  readonly unusedNames: readonly string[]
} {
  const undefinedNames = [...scope.undefinedReferences.values()]
    .map(
      ({ kind, token }) => `Undefined ${kind} ${token.text}, first reference:\n${pointAt(token)}`,
    )
    .join('')
  const unusedNames = [...scope.definitions]
    .filter(([name, { kind }]) => !(kind === 'sub' && name.startsWith('vcl_')))
    .filter(([name]) => !scope.references.has(name) && name !== scope.defaultBackend)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { kind, token }]) => `Unused ${kind} ${name}, defined:\n${pointAt(token)}`)
  return { undefinedNames, unusedNames }
}
