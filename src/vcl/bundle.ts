/**
 * Combines a main VCL and its includes into one text, which is all that a cache receives (docs/behaviour.md, Includes). It adds only a line
 * feed where two files would otherwise run together, and the prologue of a group with domains.
 */
import { createHash } from 'node:crypto'
import { findProloguePlace, prologueFile, renderPrologue, type Prologue } from './prologue.js'
import {
  describePlace,
  segmentsOf,
  locateSource,
  type SourceMap,
  type SourcePlace,
  type SourceSegment,
} from './source-map.js'
import { advancePoint, textStart, type TextPoint } from './text-point.js'
import { lexVcl } from './lexer.js'
import { flattenedLimitBytes, includeExpansionLimit } from './limits.js'
import { findRefusals, type VclRules } from './refusals.js'
import { findStatements, type IncludeStatement, type VclFinding } from './statements.js'

export interface VclText {
  readonly name: string
  readonly text: string
}

export type { SourceMap } from './source-map.js'

export interface Bundle {
  readonly ok: true
  readonly text: string
  /** SHA-256 (hex) of the text in UTF-8. */
  readonly sha: string
  readonly sourceMap: SourceMap
}

interface RefusedBundle {
  readonly ok: false
  /** In the form of compiler errors: `main.vcl line 3 pos 9: …`. At least one, at most 20. */
  readonly errors: readonly string[]
}

/** Authors fix only a few errors at a time. */
const errorLimit = 20
const expansionsInStep = 50

interface BundleOptions {
  /** Names of the cache's own VCL files; statements that include them stay in the text. */
  readonly allowedExternal: ReadonlySet<string>
  /** Set for a group with domains, whose VCL shares the cache with others. */
  readonly prologue?: Prologue | undefined
  /** Modules that an organization's VCL may import; null for the system administrator's VCL. */
  readonly modules: ReadonlySet<string> | null
}

/** @param includes the group's include files by name */
export function bundleVcl(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  options: BundleOptions,
): Bundle | RefusedBundle {
  return runSteps(bundleInSteps(main, includes, options))
}

function runSteps<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Like bundleVcl, but yields after each part, none of which takes long, so that other callers can be served. */
export function* bundleInSteps(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  options: BundleOptions,
): Generator<void, Bundle | RefusedBundle, void> {
  const { allowedExternal, prologue, modules } = options
  const flat: Flat = {
    includes,
    allowedExternal,
    prologue,
    chunks: [],
    point: textStart,
    sizeBytes: 0,
    lastCharacter: '\n',
    joining: false,
    files: new Map([[main.name, 0]]),
    segments: [],
    expansions: 0,
    errors: new Set(),
    hopeless: false,
  }
  yield* appendFile(flat, main, [{ name: main.name, place: { file: main.name, ...textStart } }])
  yield
  const text = flat.chunks.join('')
  const end = advancePoint(textStart, main.text.trimEnd())
  yield
  const sourceMap = { files: [...flat.files.keys()], segments: flat.segments, end }
  if (flat.errors.size === 0) {
    const rules = { allowedExternal, modules, amongOthers: prologue !== undefined }
    for (const error of yield* refuseInSteps({ text, sourceMap }, rules)) flat.errors.add(error)
    yield
  }
  if (flat.errors.size > 0) return { ok: false, errors: [...flat.errors] }
  return { ok: true, text, sha: createHash('sha256').update(text).digest('hex'), sourceMap }
}

/**
 * Returns errors that show only in the whole text, in the form of compiler errors: at most 20, none if the text is accepted. Also checks
 * texts that were flattened earlier, under older rules. Yields between parts.
 */
export function* refuseInSteps(
  { text, sourceMap }: Pick<Bundle, 'text' | 'sourceMap'>,
  rules: VclRules,
): Generator<void, readonly string[], void> {
  const errors = new Set<string>()
  for (const refusal of yield* findRefusals(text, rules)) {
    const place = locateSource(sourceMap, refusal)
    if (place && errors.size < errorLimit) errors.add(`${describePlace(place)}: ${refusal.reason}`)
  }
  return [...errors]
}

/** True if the text starts with a declaration such as `vcl 4.1;`, which makes it a main file (docs/behaviour.md, Files). */
export function vclDeclaresVersion(text: string): boolean {
  const tokens = lexVcl(text)
  const word = tokens.next()
  const version = tokens.next()
  if (word.done === true || version.done === true) return false
  const { kind, text: written } = word.value
  return kind === 'identifier' && written === 'vcl' && version.value.kind === 'number'
}

interface Flat {
  readonly includes: ReadonlyMap<string, VclText>
  readonly allowedExternal: ReadonlySet<string>
  readonly prologue: Prologue | undefined
  readonly chunks: string[]
  /** Position of the next chunk. */
  point: TextPoint
  sizeBytes: number
  lastCharacter: string
  /** The last chunk and the next come from different files. */
  joining: boolean
  readonly files: Map<string, number>
  readonly segments: SourceSegment[]
  expansions: number
  readonly errors: Set<string>
  /** A limit was reached or a file is unreadable: stop. */
  hopeless: boolean
}

/** A file that is being expanded, and the position of its include statement. */
interface Opened {
  readonly name: string
  readonly place: SourcePlace
}

function* appendFile(
  flat: Flat,
  file: VclText,
  opened: readonly Opened[],
): Generator<void, void, void> {
  if (!isReadable(flat, file, opened)) return
  let { from, origin } = appendBeginning(flat, file, opened)
  if (flat.expansions % expansionsInStep === 0) yield
  let end = 0
  for (const found of findExpandable(file, opened)) {
    if (found.kind === 'pause') yield
    if (found.kind === 'end') ({ end } = found)
    if ('reason' in found) giveUp(flat, placeOf(file, found), found.reason)
    const included = found.kind === 'include' && findIncluded(flat, file, found, opened)
    if (included) {
      appendText(flat, file, { from, to: found.start, origin })
      yield* appendIncluded(flat, included, [
        ...opened,
        { name: included.name, place: placeOf(file, found) },
      ])
      from = found.end
      origin = found.behind
    }
    if (flat.hopeless) return
  }
  appendText(flat, file, { from, to: file.text.length, origin })
  if (opened.length > 1 && mayGoOn(file, end)) append(flat, '\n')
}

/** True if a comment after the last token may continue to the end of its line. */
function mayGoOn({ text }: VclText, end: number): boolean {
  return !text.endsWith('\n') && /\S/.test(text.slice(end))
}

/** A main file without the word `include` needs no scan of its own; only the flattened text is scanned. */
function findExpandable({ text }: VclText, opened: readonly Opened[]): Iterable<VclFinding> {
  return opened.length === 1 && !text.includes('include') ? [] : findStatements(text)
}

function* appendIncluded(
  flat: Flat,
  file: VclText,
  opened: readonly Opened[],
): Generator<void, void, void> {
  flat.joining = true
  yield* appendFile(flat, file, opened)
  flat.joining = true
}

/** For a group with domains, appends the main file's version declaration and the prologue; returns where the rest begins. */
function appendBeginning(flat: Flat, file: VclText, opened: readonly Opened[]): Beginning {
  const start = { from: 0, origin: textStart }
  if (!flat.prologue || opened.length > 1) return start
  const place = findProloguePlace(lexVcl(file.text))
  if (!place) {
    giveUp(flat, { file: file.name, ...textStart }, versionNeeded)
    return start
  }
  appendText(flat, file, { ...start, to: place.end })
  appendPrologue(flat, flat.prologue)
  return { from: place.end, origin: advancePoint(place, ';') }
}

interface Beginning {
  readonly from: number
  readonly origin: TextPoint
}

const versionNeeded =
  'The main file of a group with domains begins with its version declaration, such as vcl 4.1;'

function appendPrologue(flat: Flat, prologue: Prologue): void {
  const text = renderPrologue(prologue)
  const index = flat.files.size
  flat.files.set(prologueFile, index)
  flat.segments.push(...segmentsOf(index, text, 0, { origin: textStart, point: flat.point }))
  append(flat, text)
}

function isReadable(flat: Flat, file: VclText, opened: readonly Opened[]): boolean {
  const asked = opened.at(-1)?.place ?? { file: file.name, ...textStart }
  const bytes = file.text.length > flattenedLimitBytes ? Infinity : Buffer.byteLength(file.text)
  if (bytes > flattenedLimitBytes) giveUp(flat, asked, tooLarge(file.name))
  const bad = /\0|\p{Surrogate}/u.exec(file.text)
  if (bad) {
    const what = bad[0] === '\0' ? 'A NUL byte' : 'Half of a surrogate pair'
    const place = placeOf(file, advancePoint(textStart, file.text, 0, bad.index))
    giveUp(flat, place, `${what} cannot stand in VCL`)
  }
  return !flat.hopeless
}

function findIncluded(
  flat: Flat,
  file: VclText,
  statement: IncludeStatement,
  opened: readonly Opened[],
): VclText | undefined {
  const { name } = statement
  const place = placeOf(file, statement)
  if (opened.some((other) => other.name === name)) {
    const chain = [...opened.map((other) => other.name), name].join(' → ')
    refuse(flat, place, `Recursive use of file "${name}": ${chain}`)
    return undefined
  }
  const included = flat.includes.get(name)
  if (!included) {
    if (!flat.allowedExternal.has(name)) refuse(flat, place, describeUnknown(name))
    return undefined
  }
  if (++flat.expansions > includeExpansionLimit) {
    giveUp(flat, place, `More than ${includeExpansionLimit} include statements are expanded`)
    return undefined
  }
  return included
}

function describeUnknown(name: string): string {
  const right = 'include names a file of the group by its name'
  return name.includes('/')
    ? `Cannot include "${name}": paths are not read, ${right}`
    : `Cannot include "${name}": the group has no include file of that name, ${right}`
}

function appendText(
  flat: Flat,
  file: VclText,
  piece: { from: number; to: number; origin: TextPoint },
): void {
  const { from, to, origin } = piece
  if (flat.hopeless || from === to) return
  const text = file.text.slice(from, to)
  if (flat.joining && /\S/.test(flat.lastCharacter) && /^\S/.test(text)) append(flat, '\n')
  flat.joining = false
  const index = flat.files.get(file.name) ?? flat.files.size
  flat.files.set(file.name, index)
  flat.segments.push(...segmentsOf(index, text, 0, { origin, point: flat.point }))
  append(flat, text)
  if (flat.sizeBytes > flattenedLimitBytes)
    giveUp(flat, { file: file.name, ...origin }, tooLarge('The VCL with its includes'))
}

function append(flat: Flat, text: string): void {
  flat.chunks.push(text)
  flat.point = advancePoint(flat.point, text)
  flat.sizeBytes += Buffer.byteLength(text)
  flat.lastCharacter = text.at(-1) ?? '\n'
}

function tooLarge(what: string): string {
  return `${what} is over ${flattenedLimitBytes} bytes`
}

function placeOf(file: VclText, point: TextPoint): SourcePlace {
  return { file: file.name, line: point.line, position: point.position }
}

/** Stops once the error limit is reached. */
function refuse(flat: Flat, place: SourcePlace, message: string): void {
  flat.errors.add(`${describePlace(place)}: ${message}`)
  if (flat.errors.size >= errorLimit) flat.hopeless = true
}

/** The error that ends the work is listed first, before all earlier ones. */
function giveUp(flat: Flat, place: SourcePlace, message: string): void {
  const before = [...flat.errors].slice(0, errorLimit - 1)
  flat.hopeless = true
  flat.errors.clear()
  for (const error of [`${describePlace(place)}: ${message}`, ...before]) flat.errors.add(error)
}
