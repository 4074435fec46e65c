/**
 * Finds what flattening needs in a VCL text, in order: include statements, and text that is unreadable or not allowed. It skips everything
 * else, and counts lines only up to each finding.
 */
import { advancePoint, textStart, type TextPoint } from './text-point.js'
import { nestedBlockLimit } from './limits.js'
import { beginScan, scanToken, type Scan, type VclReading } from './scan.js'

export type VclFinding =
  | IncludeStatement
  | FlaggedInclude
  | UnreadableText
  | DeepBlock
  | VclCall
  | Pause
  | EndOfTokens

/** A whole `include "name";`; its point is that of the string. */
export interface IncludeStatement extends TextPoint {
  readonly kind: 'include'
  readonly name: string
  /** Start of the statement, and index after its semicolon, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** The point after its semicolon. */
  readonly behind: TextPoint
}

/** The sign of an include flag. */
interface FlaggedInclude extends TextPoint {
  readonly kind: 'flag'
  readonly reason: string
}

/** Text that is not a token; the next finding is the end. */
interface UnreadableText extends TextPoint {
  readonly kind: 'error'
  readonly reason: string
}

/** The brace that opens a block beyond the nesting limit. */
interface DeepBlock extends TextPoint {
  readonly kind: 'deep-block'
}

/** The parenthesis of `vcl(`, which only occurs as the argument of a return. */
interface VclCall extends TextPoint {
  readonly kind: 'vcl-call'
}

/** Nothing was found for a while; the caller may do other work. */
export interface Pause {
  readonly kind: 'pause'
}

/** The last finding. */
export interface EndOfTokens {
  readonly kind: 'end'
  /** Index after the last token, in UTF-16 units. */
  readonly end: number
}

/** A finding that the tokens read last may start. */
interface Candidate {
  /** Kind of the last token: the word `include`, the string after it, or the word `vcl`. */
  last: 'include' | 'name' | 'vcl' | null
  /** Start of the word `include`. */
  start: number
  /** Start and content of the string. */
  nameStart: number
  name: string
  /** Number of open blocks. */
  depth: number
}

/**
 * As in vcc_lex_include, any identifier `include` starts a statement, wherever it is. One without a string or semicolon is left for the
 * compiler to refuse.
 *
 * @param watch is called with every token, before the finding at that token; the scan is reused
 */
export function* findStatements(
  text: string,
  { reading, watch }: { readonly reading?: VclReading; readonly watch?: WatchToken | null } = {},
): Generator<VclFinding, void, undefined> {
  const scan = beginScan(text, reading)
  const candidate: Candidate = { last: null, start: 0, nameStart: 0, name: '', depth: 0 }
  const find = () => findNext(scan, candidate, watch ?? null)
  const walk = { point: textStart, at: 0 }
  for (let found = find(); found !== 'end'; found = find()) {
    if (found === 'pause') yield pause
    else if (found === 'include') yield toStatement(scan, candidate, walk)
    else if (found === 'error') yield { kind: found, reason: scan.reason, ...walkTo(walk, scan) }
    else if (found === 'flag') yield { kind: found, reason: flagRefused, ...walkTo(walk, scan) }
    else yield { kind: found, ...walkTo(walk, scan) }
  }
  yield { kind: 'end', end: scan.end }
}

type WatchToken = (scan: Readonly<Scan>) => void

const pause: Pause = { kind: 'pause' }
/** Takes some milliseconds. */
const tokensBetweenPauses = 50_000

type Found = 'pause' | 'include' | 'flag' | 'deep-block' | 'vcl-call' | 'error' | 'end'

/** Separate from the generator, because engines optimize a plain function better. */
function findNext(scan: Scan, candidate: Candidate, watch: WatchToken | null): Found {
  for (let left = tokensBetweenPauses; scanToken(scan); left--) {
    if (watch !== null) watch(scan)
    const { kind } = scan
    if (kind === 'identifier') noteWord(scan, candidate)
    else if (kind === 'punctuation') {
      const found = findByPunctuation(scan, candidate)
      candidate.last = null
      if (found !== null) return found
    } else if (kind === 'string' && candidate.last === 'include') noteName(scan, candidate)
    else candidate.last = null
    if (kind === 'error') return 'error'
    if (left === 0) return 'pause'
  }
  return 'end'
}

const flagRefused =
  'include takes no flag such as +glob here: name each file in a statement of its own'

function noteWord({ text, start, end }: Scan, candidate: Candidate): void {
  candidate.last = null
  if (end - start === 7 && text.startsWith('include', start)) {
    candidate.last = 'include'
    candidate.start = start
  } else if (end - start === 3 && text.startsWith('vcl', start)) candidate.last = 'vcl'
}

function noteName({ text, start, valueStart, valueEnd }: Scan, candidate: Candidate): void {
  candidate.last = 'name'
  candidate.nameStart = start
  candidate.name = text.slice(valueStart, valueEnd)
}

const openBrace = 0x7b
const closeBrace = 0x7d

function findByPunctuation({ text, start, end }: Scan, candidate: Candidate): Found | null {
  const code = text.charCodeAt(start)
  if (code === openBrace) return ++candidate.depth === nestedBlockLimit + 1 ? 'deep-block' : null
  if (code === closeBrace && candidate.depth > 0) candidate.depth--
  return candidate.last === null || end - start > 1
    ? null
    : (endings[candidate.last][text.charAt(start)] ?? null)
}

/** The finding that a character completes after the last token. */
const endings: Readonly<Record<NonNullable<Candidate['last']>, Readonly<Record<string, Found>>>> = {
  include: { '+': 'flag', '-': 'flag' },
  name: { ';': 'include' },
  vcl: { '(': 'vcl-call' },
}

/** How far lines and positions have been counted. */
interface Walk {
  point: TextPoint
  at: number
}

function walkTo(walk: Walk, { text, start }: Pick<Scan, 'text' | 'start'>): TextPoint {
  walk.point = advancePoint(walk.point, text, walk.at, start)
  walk.at = start
  return walk.point
}

function toStatement(
  { text, start, end }: Scan,
  candidate: Candidate,
  walk: Walk,
): IncludeStatement {
  const { name, nameStart, start: wordStart } = candidate
  const { line, position } = walkTo(walk, { text, start: nameStart })
  const semicolon = walkTo(walk, { text, start })
  const behind = advancePoint(semicolon, ';')
  return { kind: 'include', name, line, position, start: wordStart, end, behind }
}
