/**
 * Finds what an organization's VCL may not use although the compiler accepts it (docs/behaviour.md, VCL policy). It checks tokens, as the
 * compiler does, so that blanks, comments, long strings and includes hide nothing. Allowed tokens allocate nothing, because other work
 * waits while texts of megabytes are checked.
 */
import { advancePoint, textStart, type TextPoint } from './text-point.js'
import type { Scan } from './scan.js'

interface Forbidden {
  /** Index of the first character, in UTF-16 units. */
  readonly start: number
  readonly reason: string
}

interface PolicyWatch {
  /** Must be called with every token of a text, in order. */
  readonly watch: (scan: Readonly<Scan>) => void
  /** At most 20. */
  readonly forbidden: readonly Forbidden[]
}

/** @param modules the modules that may be imported */
export function watchPolicy(modules: ReadonlySet<string>): PolicyWatch {
  const found: Forbidden[] = []
  const before: Before = { last: 'other', lastStart: 0, second: 'other', secondStart: 0 }
  const watch = (scan: Readonly<Scan>): void => {
    if (found.length === mostFound) return
    const seen = classify(scan, before.last)
    const forbidden = judge(scan, seen, before, modules)
    if (forbidden !== null) found.push(forbidden)
    before.second = before.last
    before.secondStart = before.lastStart
    before.last = seen
    before.lastStart = scan.start
  }
  return { watch, forbidden: found }
}

/** Authors fix only a few errors at a time. */
const mostFound = 20

/** Returns the findings in text order, with line and position. */
export function placeForbidden(
  text: string,
  forbidden: readonly Forbidden[],
): readonly (TextPoint & { readonly reason: string })[] {
  let point = textStart
  let at = 0
  return forbidden
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, reason }) => {
      point = advancePoint(point, text, at, start)
      at = start
      return { ...point, reason }
    })
}

export function refuseUse(what: string, why?: string): string {
  return `VCL of an organization may not use ${what}${why === undefined ? '' : `: ${why}`}`
}

const hostReaches = 'it reaches the host of the cache'
const banReaches =
  "it reaches the objects of all groups on the cache; an invalidation reaches one's own"
const pathReaches = 'it reaches sockets on the host of the cache; name a .host'

const forbiddenOfStd: ReadonlyMap<Seen, string> = new Map<Named, string>([
  ['fileread', hostReaches],
  ['file_exists', hostReaches],
  ['blobread', hostReaches],
  ['syslog', hostReaches],
  ['getenv', hostReaches],
  ['ban', banReaches],
])

/** The compiler ignores the case of actions and functions (tested: 7.1.1). */
const names = [
  ...(['std', 'ban', 'path', 'import', 'syslog', 'getenv'] as const),
  ...(['include', 'fileread', 'blobread', 'file_exists'] as const),
]
type Named = (typeof names)[number]

/** How the policy classifies a token; `import` only at the start of a statement, else it is a word. */
type Seen = Named | 'word' | 'dot' | 'opening' | 'semicolon' | 'other'

/** The two tokens before the current one. */
interface Before {
  last: Seen
  lastStart: number
  second: Seen
  secondStart: number
}

const marks: Readonly<Record<number, Seen>> = { 0x2e: 'dot', 0x28: 'opening', 0x3b: 'semicolon' }

function classify({ kind, text, start, end }: Readonly<Scan>, last: Seen): Seen {
  if (kind === 'punctuation') return marks[text.charCodeAt(start)] ?? 'other'
  if (kind !== 'identifier') return 'other'
  const name = findNamed(text, start, end)
  // After a word or a dot, `import` is the name of a header.
  return name === 'import' && (last === 'dot' || isWord(last)) ? 'word' : name
}

const namesByLength: readonly (readonly Named[])[] = Array.from({ length: 12 }, (_, length) =>
  names.filter((name) => name.length === length),
)

function findNamed(text: string, start: number, end: number): Named | 'word' {
  const sameLength = namesByLength[end - start]
  if (sameLength === undefined) return 'word'
  for (const name of sameLength) if (isWritten(text, start, name)) return name
  return 'word'
}

/** Ignores case: among characters of words only letters differ in this bit alone. */
function isWritten(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++)
    if ((text.charCodeAt(start + at) | 0x20) !== (name.charCodeAt(at) | 0x20)) return false
  return true
}

function isWord(seen: Seen): boolean {
  return seen !== 'other' && seen !== 'dot' && seen !== 'opening' && seen !== 'semicolon'
}

function judge(
  scan: Readonly<Scan>,
  seen: Seen,
  before: Before,
  modules: ReadonlySet<string>,
): Forbidden | null {
  const { kind, start } = scan
  const { last, second } = before
  if (kind === 'inline-c') return { start, reason: refuseUse('inline C') }
  if (last === 'dot') return judgeMember(seen, before)
  if (last === 'import' || second === 'import') return judgeImport(scan, seen, before, modules)
  if (last === 'ban' && seen === 'opening' && second !== 'dot')
    return { start: before.lastStart, reason: refuseUse('ban()', banReaches) }
  if (last === 'include') return judgeInclude(scan)
  return judgeLabel(scan)
}

/** A backend's field follows a brace or a semicolon; after a word the dot belongs to a name such as `req.http.path`. */
function judgeMember(seen: Seen, { second, secondStart, lastStart }: Before): Forbidden | null {
  if (seen === 'path' && !isWord(second))
    return { start: lastStart, reason: refuseUse("a backend's .path", pathReaches) }
  const why = second === 'std' ? forbiddenOfStd.get(seen) : undefined
  return why === undefined ? null : { start: secondStart, reason: refuseUse(`std.${seen}`, why) }
}

function judgeImport(
  { kind, text, start, end }: Readonly<Scan>,
  seen: Seen,
  { last }: Before,
  modules: ReadonlySet<string>,
): Forbidden | null {
  if (kind === 'error') return null
  if (last !== 'import')
    return seen === 'semicolon'
      ? null
      : {
          start,
          reason: refuseUse(
            'import … from and import … as',
            'a module is imported by its name alone',
          ),
        }
  const written = text.slice(start, end)
  if (kind === 'identifier' && modules.has(written)) return null
  const allowed = modules.size === 0 ? 'none is' : `allowed: ${[...modules].sort().join(', ')}`
  return { start, reason: refuseUse(`the module ${written.slice(0, 100)}`, allowed) }
}

/** The compiler's error differs if the label exists, which would reveal the other groups on the cache. */
function judgeLabel({ kind, text, start, end }: Readonly<Scan>): Forbidden | null {
  if (kind !== 'identifier' || text.charCodeAt(start + 2) !== dash) return null
  const name = text.slice(start, Math.min(end, start + longestLabel))
  return labelForm.test(name)
    ? { start, reason: refuseUse(`the name ${name}`, 'it is that of a label on the cache') }
    : null
}

const dash = 0x2d
const longestLabel = 100
const labelForm = /^cf-[ls]-[1-9]/

/** Includes that remain after the group's own files have been inserted. */
function judgeInclude({ kind, text, start, valueStart }: Readonly<Scan>): Forbidden | null {
  return kind === 'string' && text.charAt(valueStart) === '/'
    ? { start, reason: refuseUse('an absolute include', hostReaches) }
    : null
}
