/**
 * A main VCL and its includes as one text, the only thing that a cache ever sees (choices: 3, "Includes are flattened").
 * Nothing is added but a line feed where two files would otherwise grow together.
 */
import { createHash } from 'node:crypto'
import {
  describePlace,
  segmentsOf,
  locateSource,
  type SourceMap,
  type SourcePlace,
  type SourceSegment,
} from './source-map.js'
import { advancePoint, textStart, utf8Size, type TextPoint } from './text-point.js'
import { lexVcl, type Token } from './vcl-lexer.js'
import {
  createDepthCheck,
  flattenedLimitBytes,
  includeExpansionLimit,
  nestedBlockLimit,
} from './vcl-limits.js'

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

export interface RefusedBundle {
  readonly ok: false
  /** In the form of the compiler's errors: `main.vcl line 3 pos 9: …`. At least one, at most 20. */
  readonly errors: readonly string[]
}

/** Chosen by us: an author mends a few at a time. */
const errorLimit = 20

/** @param includes the group's include files by name */
export function bundleVcl(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  options: {
    /** Names of the cache's own VCL; statements that include them stay in the text. */
    readonly allowedExternal: ReadonlySet<string>
  },
): Bundle | RefusedBundle {
  const flat: Flat = {
    includes,
    allowedExternal: options.allowedExternal,
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
  appendFile(flat, main, [{ name: main.name, place: { file: main.name, ...textStart } }])
  const text = flat.chunks.join('')
  const sourceMap = { files: [...flat.files.keys()], segments: flat.segments }
  if (flat.errors.size === 0) refuseFlattened(flat, text, sourceMap)
  if (flat.errors.size > 0) return { ok: false, errors: [...flat.errors] }
  return { ok: true, text, sha: createHash('sha256').update(text).digest('hex'), sourceMap }
}

/** Whether the text begins with `vcl 4.1;` or the like: what makes it a main file (choices: 2, fileType). */
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
  readonly chunks: string[]
  /** Where the next chunk will stand. */
  point: TextPoint
  sizeBytes: number
  lastCharacter: string
  /** The last chunk and the next are of different files. */
  joining: boolean
  readonly files: Map<string, number>
  readonly segments: SourceSegment[]
  expansions: number
  readonly errors: Set<string>
  /** A limit was reached or a file cannot be read to its end: nothing more is worth looking at. */
  hopeless: boolean
}

/** A file that is being expanded, and the statement that asked for it. */
interface Opened {
  readonly name: string
  readonly place: SourcePlace
}

function appendFile(flat: Flat, file: VclText, opened: readonly Opened[]): void {
  if (!isReadable(flat, file, opened)) return
  let from = 0
  let origin = textStart
  let end = 0
  for (const token of lexStatements(file.text)) {
    end = token.end
    if (token.kind === 'error') giveUp(flat, placeOf(file, token), token.value)
    if (token.kind === 'include') {
      const included = findIncluded(flat, file, token, opened)
      if (!included) continue
      appendText(flat, file, { from, to: token.start, origin })
      appendIncluded(flat, included, [
        ...opened,
        { name: included.name, place: placeOf(file, token) },
      ])
      from = token.end
      origin = token.behind
    }
    if (flat.hopeless) return
  }
  appendText(flat, file, { from, to: file.text.length, origin })
  // What is behind the last token is blank or comment, and a comment may go on to the end of its line.
  const open = opened.length > 1 && !file.text.endsWith('\n') && /\S/.test(file.text.slice(end))
  if (open) append(flat, '\n')
}

function appendIncluded(flat: Flat, file: VclText, opened: readonly Opened[]): void {
  flat.joining = true
  appendFile(flat, file, opened)
  flat.joining = true
}

function isReadable(flat: Flat, file: VclText, opened: readonly Opened[]): boolean {
  const asked = opened.at(-1)?.place ?? { file: file.name, ...textStart }
  const bytes = file.text.length > flattenedLimitBytes ? Infinity : utf8Size(file.text)
  if (bytes > flattenedLimitBytes) giveUp(flat, asked, tooLarge(file.name))
  const bad = /\0|\p{Surrogate}/u.exec(file.text)
  if (bad) {
    const what = bad[0] === '\0' ? 'A NUL byte' : 'Half of a surrogate pair'
    const place = placeOf(file, advancePoint(textStart, file.text, 0, bad.index))
    giveUp(flat, place, `${what} cannot stand in VCL`)
  }
  return !flat.hopeless
}

/** `include "name";` as one: it stands where its string stands. */
interface IncludeStatement extends TextPoint {
  readonly kind: 'include'
  readonly name: string
  readonly start: number
  readonly end: number
  /** The point behind its semicolon. */
  readonly behind: TextPoint
}

/**
 * The tokens, and behind the three tokens of an include statement the statement. As in vcc_lex_include any identifier
 * `include` begins one, wherever it stands. One without a string or a semicolon is the compiler's to refuse.
 */
function* lexStatements(text: string): Generator<Token | IncludeStatement, void, undefined> {
  let before: Token | undefined
  let last: Token | undefined
  for (const token of lexVcl(text)) {
    yield token
    if (isInclude(last) && (token.text === '+' || token.text === '-'))
      yield { ...token, kind: 'error', value: flagRefused }
    if (isInclude(before) && last?.kind === 'string' && token.text === ';')
      yield toStatement(before, last, token)
    before = last
    last = token
  }
}

function isInclude(token: Token | undefined): token is Token {
  return token?.kind === 'identifier' && token.text === 'include'
}

function toStatement(word: Token, name: Token, semicolon: Token): IncludeStatement {
  const { line, position, value } = name
  const behind = advancePoint(semicolon, semicolon.text)
  return {
    kind: 'include',
    name: value,
    line,
    position,
    start: word.start,
    end: semicolon.end,
    behind,
  }
}

const flagRefused =
  'include takes no flag such as +glob here: name each file in a statement of its own'

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
  flat.sizeBytes += utf8Size(text)
  flat.lastCharacter = text.at(-1) ?? '\n'
}

/** What only shows in the whole text. */
function refuseFlattened(flat: Flat, text: string, sourceMap: SourceMap): void {
  const isTooDeep = createDepthCheck()
  // `include` at the end of one file and a string in the next: the cache would read a file of its own.
  for (const token of lexStatements(text)) {
    if (token.kind === 'include' && !flat.allowedExternal.has(token.name))
      refuseAt(flat, sourceMap, token, 'An include statement must stand in one file')
    else if (token.kind === 'error') refuseAt(flat, sourceMap, token, token.value)
    else if (token.kind !== 'include' && isTooDeep(token))
      refuseAt(flat, sourceMap, token, `Blocks are nested deeper than ${nestedBlockLimit}`)
  }
}

function refuseAt(flat: Flat, sourceMap: SourceMap, point: TextPoint, message: string): void {
  const place = locateSource(sourceMap, point)
  if (place) refuse(flat, place, message)
}

function tooLarge(what: string): string {
  return `${what} is over ${flattenedLimitBytes} bytes`
}

function placeOf(file: VclText, point: TextPoint): SourcePlace {
  return { file: file.name, line: point.line, position: point.position }
}

function refuse(flat: Flat, place: SourcePlace, message: string): void {
  if (flat.errors.size < errorLimit) flat.errors.add(`${describePlace(place)}: ${message}`)
}

/** What ends the work comes first, whatever was found before. */
function giveUp(flat: Flat, place: SourcePlace, message: string): void {
  const before = [...flat.errors].slice(0, errorLimit - 1)
  flat.hopeless = true
  flat.errors.clear()
  for (const error of [`${describePlace(place)}: ${message}`, ...before]) flat.errors.add(error)
}
