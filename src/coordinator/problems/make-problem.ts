/** What a noun's rules find wrong, and the form in which the API tells it (docs/behaviour.md, Problems). */
import {
  concernedMost,
  problemCodes,
  type ConcernedObject,
  type Problem,
  type ProblemCode,
  type Severity,
} from '../../resources/problem.js'
import type { NamedReference } from '../store/owner.js'

/** An object has at most one of a code. */
export interface Finding {
  readonly code: ProblemCode
  /** That of the code, unless it grew worse. */
  readonly severity?: Severity
  readonly message: string
  /** Null: the rows do not tell; then when it was first seen. */
  readonly sinceMs: number | null
  /** All of them. */
  readonly objects?: readonly ConcernedObject[]
  readonly remedy: string
}

/** Of what another program said: lists of thousands of objects are kept, and read by people. */
const quotedMostCharacters = 300

/** The worst first. `findFirstSeen`: when such a problem was first seen; undefined: never yet. */
export function toProblems(
  findings: readonly Finding[],
  findFirstSeen: (code: ProblemCode) => number,
): Problem[] {
  return findings.map((finding) => toProblem(finding, findFirstSeen)).toSorted(compareProblems)
}

function compareProblems(
  a: Pick<Problem, 'severity' | 'since'>,
  b: Pick<Problem, 'severity' | 'since'>,
): number {
  if (a.severity !== b.severity) return b.severity - a.severity
  return a.since < b.since ? -1 : a.since > b.since ? 1 : 0
}

function toProblem(
  { code, severity = problemCodes[code], message, sinceMs, objects = [], remedy }: Finding,
  findFirstSeen: (code: ProblemCode) => number,
): Problem {
  const since = new Date(sinceMs ?? findFirstSeen(code)).toISOString()
  return { code, severity, message, since, objects: objects.slice(0, concernedMost), remedy }
}

/** The first line of it, on one line. */
export function quoteText(text: string): string {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length > quotedMostCharacters ? `${line.slice(0, quotedMostCharacters)}…` : line
}

export function toConcerned(type: string, { id, name }: NamedReference): ConcernedObject {
  return { type, id, name }
}

/** `1 cache`, `12 caches`. */
export function countCaches(count: number): string {
  return `${count} ${count === 1 ? 'cache' : 'caches'}`
}
