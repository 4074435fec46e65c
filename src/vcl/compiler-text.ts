/**
 * Translates a cache's messages about a VCL to the author's own files (docs/behaviour.md, Compiler errors). Positions are whole lines of
 * the compiler's output: `('<vcl.inline>' Line 3 Pos 35)`, optionally after `At: `, optionally with ` -- (Pos 40)` (vcc_token.c
 * vcc_ErrWhere2). Two lines follow: the source and its marks.
 */
import { prologueFile } from './prologue.js'
import { describePlace, locateSource, type SourceMap, type SourcePlace } from './source-map.js'

export interface LoadFailure {
  readonly agentName: string
  /** Release of the agent's cache, for example `Varnish 7.1.1`; null if unknown. */
  readonly release: string | null
  /** The cache's complete message. */
  readonly error: string
}

/** Maximum number of paragraphs in one text. */
const paragraphLimit = 10
const paragraphLimitCharacters = 8000
const agentLimit = 20
/** Maximum number of releases named below a paragraph; more than a fleet runs. */
const releaseLimit = 10
const excerptLimitCharacters = 160
/** Limit for all distinct messages read for one text: if every cache reports a different long one, reading more adds nothing. */
const readLimitCharacters = 20 * 65_536
const unread = 'other words, which were not read'
/** Limit for a cache's message about one VCL; the compiler writes some hundred characters per error. */
const errorLimitCharacters = 65_536

/** Returns a paragraph per distinct error, most frequent first, each followed by its releases and their agents. */
export function describeFailures(failures: readonly LoadFailure[], sourceMap: SourceMap): string {
  const paragraphs = groupAgents(failures, sourceMap)
  const shown = paragraphs
    .slice(0, paragraphLimit)
    .map(([text, failed]) => `${text}\n(${describeReleases(failed)})`)
  const hidden = paragraphs.length - shown.length
  return [...shown, ...(hidden > 0 ? [`(and ${hidden} other errors)`] : [])].join('\n\n')
}

/** Agents mostly report the same message, so each text is translated only once. */
function groupAgents(
  failures: readonly LoadFailure[],
  sourceMap: SourceMap,
): readonly (readonly [text: string, failed: readonly LoadFailure[]])[] {
  const translations = new Map<string, string>()
  const failedWith = new Map<string, LoadFailure[]>()
  let readCharacters = 0
  for (const failure of failures) {
    const { error } = failure
    const isNew = !translations.has(error)
    if (isNew) readCharacters += Math.min(error.length, errorLimitCharacters)
    const translation =
      isNew && readCharacters > readLimitCharacters
        ? unread
        : (translations.get(error) ?? translateError(error, sourceMap))
    if (translation !== unread) translations.set(error, translation)
    const failed = failedWith.get(translation)
    if (failed) failed.push(failure)
    else failedWith.set(translation, [failure])
  }
  return [...failedWith].toSorted(([, a], [, b]) => b.length - a.length)
}

/** For example `Varnish 6.0.17: agents edge-1, edge-2; Vinyl 9.0.1: agent edge-3`. */
function describeReleases(failed: readonly LoadFailure[]): string {
  const namesOf = new Map<string, string[]>()
  for (const { agentName, release } of failed) {
    const names = namesOf.get(release ?? '')
    if (names) names.push(agentName)
    else namesOf.set(release ?? '', [agentName])
  }
  const releases = [...namesOf].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const shown = releases
    .slice(0, releaseLimit)
    .map(([release, names]) => `${release === '' ? '' : `${release}: `}${describeAgents(names)}`)
  const hidden = releases.length - releaseLimit
  return `${shown.join('; ')}${hidden > 0 ? `; and ${hidden} more releases` : ''}`
}

function describeAgents(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, agentLimit).join(', ')
  const hidden = names.length - agentLimit
  const word = names.length === 1 ? 'agent' : 'agents'
  return `${word} ${shown}${hidden > 0 ? ` and ${hidden} more` : ''}`
}

/** Translates one error to the author's files and lines. */
export function translateError(error: string, sourceMap: SourceMap): string {
  const main = sourceMap.files[0] ?? 'the VCL'
  const text = error.slice(0, errorLimitCharacters).replaceAll('\r\n', '\n').trim()
  const failed = initFailure.exec(behindCompiled(text))
  const translated = failed
    ? `${main}: vcl_init failed: ${(failed[1] ?? 'without a message').trim()}`
    : compilerMark.test(text)
      ? printCompilerText(readCompilerText(text), sourceMap, main)
      : text
  return limitParagraph(translated.replace(programNames, () => main))
}

/** docs/behaviour.md, Names on the cache. The author did not choose them. */
const programNames = /\bcf-\d+-[0-9a-f]{8}-\d+\b/g
const initFailure = /^VCL "[^"\n]*" Failed initialization(?:\nMessage:\n\t?([^]*))?$/

/** 6.0 and 6.5 first report that the VCL compiled, possibly with warnings. */
function behindCompiled(text: string): string {
  const at = text.lastIndexOf(compiled)
  return at < 0 ? text : text.slice(at + compiled.length)
}

const compiled = 'VCL compiled.\n'
const compilerMark = /^(?:Message from \S+-compiler:|VCL compilation failed)$/m

/** Lines about the compiler rather than the VCL. */
const noise =
  /^(?:Message from VCC-compiler:|\(program line \d+\), at|Running \S+-compiler failed, .*|VCL compilation failed|Could not delete '.*)$/

/** A line of the compiler's output, or a position with the source lines below it. */
type Piece =
  | { readonly kind: 'line'; readonly text: string }
  | {
      readonly kind: 'place'
      readonly file: string
      readonly line: number
      readonly position: number
      readonly excerpt: readonly string[]
    }

/** The part after the file name. */
const placeForm = /' Line (\d{1,9}) Pos (\d{1,9})\)/y
const marks = /^[-#]+$/

function readCompilerText(text: string): Piece[] {
  const lines = dropWarnings(text.split('\n').filter((line) => !noise.test(line)))
  const pieces: Piece[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const place = readPlace(line)
    if (place === null) {
      pieces.push({ kind: 'line', text: line })
      continue
    }
    const isMarked = marks.test(lines[at + 2] ?? '')
    const excerpt = isMarked ? lines.slice(at + 1, at + 3) : []
    at += excerpt.length
    pieces.push({ kind: 'place', ...place, excerpt })
  }
  return pieces
}

/** File names may contain anything: the last position in the line counts. Each is tried once, and the rest only by its ends. */
function readPlace(line: string): SourcePlace | null {
  const start = line.startsWith('At: ') ? 4 : 0
  if (!line.startsWith("('", start) || !line.endsWith(')')) return null
  const from = start + 2
  for (let at = line.length; at > from;) {
    at = line.lastIndexOf("' Line ", at - 1)
    if (at < from) return null
    placeForm.lastIndex = at
    const [found = '', number, position] = placeForm.exec(line) ?? []
    const end = at + found.length
    if (found !== '' && (end === line.length || line.startsWith(' -- (', end)))
      return { file: line.slice(from, at), line: Number(number), position: Number(position) }
  }
  return null
}

/** Drops warnings, which did not stop the VCL, unless nothing else is left. */
function dropWarnings(lines: readonly string[]): readonly string[] {
  const last = lines.lastIndexOf('(That was just a warning)')
  const rest = lines.slice(last + 1)
  return rest.some((line) => line !== '') ? rest : lines
}

/** Puts the first position in front. Its message is on the lines before it, or below it if there are none. */
function printCompilerText(pieces: readonly Piece[], sourceMap: SourceMap, main: string): string {
  const at = pieces.findIndex((piece) => piece.kind === 'place')
  const first = pieces[at]
  if (first?.kind !== 'place') return `${main}: ${toLines(pieces, sourceMap).join('\n')}`
  const before = toLines(pieces.slice(0, at), sourceMap)
  const behind = pieces.slice(at + 1)
  const below = before.length > 0 ? undefined : behind.find(isWords)
  const [headline = below?.text ?? 'refused', ...rest] = before
  const after = behind.filter((piece) => piece !== below)
  // The compiler reads the built-in VCL after the author's, so an incomplete end of the author's VCL is reported there.
  const isBehind = builtinNames.has(first.file)
  const lines = [...rest, ...showExcerpt(first, sourceMap), ...toLines(after, sourceMap)]
  const place = isBehind ? describeEnd(main, sourceMap) : describeEnginePlace(first, sourceMap)
  return [`${place}: ${headline}`, ...(isBehind ? ['behind its end:'] : []), ...lines].join('\n')
}

/** `Builtin` up to 6.5. */
const builtinNames = new Set(['Builtin', '<builtin>'])

function describeEnd(main: string, { end }: SourceMap): string {
  return end ? describePlace({ file: main, ...end }) : main
}

function isWords(piece: Piece): piece is Piece & { kind: 'line' } {
  return piece.kind === 'line' && piece.text.trim() !== '' && piece.text !== '[...]'
}

function toLines(pieces: readonly Piece[], sourceMap: SourceMap): string[] {
  const lines = pieces.flatMap((piece) =>
    piece.kind === 'line'
      ? [piece.text]
      : [`at ${describeEnginePlace(piece, sourceMap)}`, ...showExcerpt(piece, sourceMap)],
  )
  return lines.filter((line) => line.trim() !== '')
}

/** Names of texts that were sent to the cache, in releases from 4.1 on; other names are the cache's own files. */
const sentNames = new Set(['<vcl.inline>', 'input'])

function describeEnginePlace(enginePlace: SourcePlace, sourceMap: SourceMap): string {
  return describePlace(findPlace(enginePlace, sourceMap) ?? enginePlace)
}

function findPlace({ file, line, position }: SourcePlace, sourceMap: SourceMap) {
  return sentNames.has(file) ? locateSource(sourceMap, { line, position }) : null
}

/** Omits excerpts of generated VCL, which contains secrets. */
function showExcerpt(piece: Piece & { kind: 'place' }, sourceMap: SourceMap): readonly string[] {
  return findPlace(piece, sourceMap)?.file === prologueFile ? [] : cutExcerpt(piece.excerpt)
}

/** Cuts a long source line around the marks. */
function cutExcerpt(excerpt: readonly string[]): readonly string[] {
  const marked = excerpt[1] ?? ''
  if (marked.length <= excerptLimitCharacters) return excerpt
  const from = Math.max(0, marked.indexOf('#') - excerptLimitCharacters / 2)
  return excerpt.map((line) => line.slice(from, from + excerptLimitCharacters))
}

function limitParagraph(text: string): string {
  return text.length > paragraphLimitCharacters
    ? `${text.slice(0, paragraphLimitCharacters)}…`
    : text
}
