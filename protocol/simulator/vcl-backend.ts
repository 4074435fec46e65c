/** Backend and probe declarations (libvcc/vcc_backend.c). */
import type { NewBackend } from './engine-state.js'
import { pointAt, VclRefused, type VclToken } from './vcl-lexer.js'
import type { VclScope } from './vcl-scope.js'
import { refuseSymbol, type TokenCursor } from './vcl-tokens.js'
import { backendFields, probeFields } from './vcl-words.js'

type Probe = NonNullable<NewBackend['probe']>

const defaultProbe: Probe = { window: 8, threshold: 3 }

export function parseBackend(cursor: TokenCursor, scope: VclScope): void {
  const start = cursor.advance()
  const name = cursor.take('ID')
  if (name.text === 'default' && scope.defaultBackend === 'default')
    throw cursor.refuse('Only one default director possible.', start)
  if (name.text === 'default' || scope.defaultBackend === undefined)
    scope.defaultBackend = name.text
  if (scope.hasNoneBackend && cursor.is('ID') && cursor.token.text.toLowerCase() === 'none') {
    cursor.advance()
    cursor.take(';')
    return // without an endpoint it is in no list of backends
  }
  try {
    const probe = parseBackendBody(cursor, scope, name)
    scope.backends.push({ name: name.text, type: 'backend', probe, members: undefined })
  } catch (error) {
    if (!(error instanceof VclRefused)) throw error
    throw new VclRefused(
      `${error.message}\nIn backend specification starting at:\n${pointAt(start)}`,
    )
  }
}

function parseBackendBody(cursor: TokenCursor, scope: VclScope, name: VclToken): Probe | undefined {
  cursor.take('{')
  let probe: Probe | undefined
  let hasAddress = false
  while (!cursor.is('}')) {
    const field = takeField(cursor, backendFields)
    hasAddress ||= field.text === 'host' || field.text === 'path'
    if (field.text === 'probe') probe = parseProbeReference(cursor, scope)
    else {
      takeValue(cursor)
      cursor.take(';')
    }
  }
  if (!hasAddress) throw cursor.refuse('Expected .host or .path.', name)
  cursor.advance()
  return probe
}

/** `{ … }` in place, or the name of a probe, `default` among them. */
function parseProbeReference(cursor: TokenCursor, scope: VclScope): Probe {
  if (cursor.is('{')) {
    const probe = parseProbeBody(cursor)
    if (cursor.is(';')) cursor.advance()
    return probe
  }
  const name = cursor.take('ID')
  const isDefined = scope.definitions.get(name.text)?.kind === 'probe'
  if (!isDefined && name.text !== 'default') throw refuseSymbol(name.text, name, name)
  scope.references.add(name.text)
  cursor.take(';')
  return scope.probes.get(name.text) ?? defaultProbe
}

export function parseProbe(cursor: TokenCursor, scope: VclScope): void {
  cursor.advance()
  const name = cursor.take('ID')
  scope.probes.set(name.text, parseProbeBody(cursor))
}

const largestWindow = 64

function parseProbeBody(cursor: TokenCursor): Probe {
  cursor.take('{')
  let window: VclToken | undefined
  let threshold: VclToken | undefined
  while (!cursor.is('}')) {
    const field = takeField(cursor, probeFields)
    const value = takeValue(cursor)
    if (field.text === 'window') window = value
    if (field.text === 'threshold') threshold = value
    cursor.take(';')
  }
  if (threshold === undefined && window !== undefined)
    throw cursor.refuse('Must specify .threshold with .window', window)
  if (window !== undefined && Number(window.text) > largestWindow)
    throw cursor.refuse(`Window must be ${largestWindow} or less.`, window)
  cursor.advance()
  if (threshold === undefined) return defaultProbe
  const least = Number(threshold.text)
  if (window === undefined) return { window: least + 1, threshold: least }
  if (least > Number(window.text))
    throw new VclRefused(
      `Threshold can not be greater than window.\n${pointAt(threshold)}${pointAt(window)}`,
    )
  return { window: Number(window.text), threshold: least }
}

function takeField(cursor: TokenCursor, known: ReadonlySet<string>): VclToken {
  cursor.take('.')
  const field = cursor.take('ID')
  if (!known.has(field.text)) throw cursor.refuse(`Unknown field: '${field.text}' at`, field)
  cursor.take('=')
  return field
}

/** A string (or several, as in `.request`), a number with its unit, or a word. */
function takeValue(cursor: TokenCursor): VclToken {
  if (cursor.is('-')) cursor.advance()
  const first = cursor.token
  if (!['CSTR', 'CNUM', 'FNUM', 'ID', 'CBLOB'].includes(first.kind)) return cursor.take('CSTR')
  cursor.advance()
  while (first.kind === 'CSTR' && cursor.is('CSTR')) cursor.advance()
  if (first.kind !== 'CSTR' && cursor.is('ID')) cursor.advance()
  return first
}
