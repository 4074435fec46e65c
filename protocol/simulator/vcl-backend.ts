/** Backend and probe declarations (libvcc/vcc_backend.c). */
import { pointAt, VclRefused, type VclToken } from './vcl-lexer.js'
import { referTo, type VclScope } from './vcl-scope.js'
import type { TokenCursor } from './vcl-tokens.js'
import { backendFields, probeFields } from './vcl-words.js'

interface Probe {
  readonly window: number
  readonly threshold: number
}

const defaultProbe: Probe = { window: 8, threshold: 3 }

export function parseBackend(cursor: TokenCursor, scope: VclScope): void {
  const start = cursor.advance()
  const name = cursor.take('ID').text
  // The first one is the default, and so is one of that name: both count as used.
  if (!scope.hasDefaultBackend || name === 'default') scope.references.add(name)
  scope.hasDefaultBackend = true
  if (cursor.isWord('none')) {
    cursor.advance()
    cursor.take(';')
    return // without an endpoint it is in no list of backends
  }
  try {
    const probe = parseBackendBody(cursor, scope)
    scope.backends.push({ name, type: 'backend', probe, members: undefined })
  } catch (error) {
    if (!(error instanceof VclRefused)) throw error
    throw new VclRefused(
      `${error.message}\nIn backend specification starting at:\n${pointAt(start)}`,
    )
  }
}

function parseBackendBody(cursor: TokenCursor, scope: VclScope): Probe | undefined {
  cursor.take('{')
  const opening = cursor.token
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
  if (!hasAddress) throw cursor.refuse('Expected .host or .path.', opening)
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
  if (name.text !== 'default') referTo(scope, 'probe', name)
  cursor.take(';')
  return defaultProbe
}

export function parseProbe(cursor: TokenCursor, scope: VclScope): void {
  cursor.advance()
  const name = cursor.take('ID')
  if (name.text === 'default') scope.references.add(name.text)
  parseProbeBody(cursor)
}

function parseProbeBody(cursor: TokenCursor): Probe {
  cursor.take('{')
  let { window, threshold } = defaultProbe
  while (!cursor.is('}')) {
    const field = takeField(cursor, probeFields)
    const value = takeValue(cursor)
    if (field.text === 'window') window = Number(value.text)
    if (field.text === 'threshold') threshold = Number(value.text)
    cursor.take(';')
  }
  cursor.advance()
  return { window, threshold }
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
  if (!['CSTR', 'CNUM', 'FNUM', 'ID'].includes(first.kind)) return cursor.take('CSTR')
  cursor.advance()
  while (first.kind === 'CSTR' && cursor.is('CSTR')) cursor.advance()
  if (first.kind !== 'CSTR' && cursor.is('ID')) cursor.advance()
  return first
}
