/** Turns the findings of a noun's rules into problems as the API returns them (docs/behaviour.md, Problems). */
import {
  maxConcernedAgents,
  problemCodes,
  type ConcernedObject,
  type Problem,
  type ProblemCode,
  type Severity,
} from '../../resources/problem.js'
import type { NamedReference } from '../store/owner.js'

/** An object has at most one finding per code. */
export interface Finding {
  readonly code: ProblemCode
  /** Default: the severity of the code; set if the problem is worse. */
  readonly severity?: Severity
  readonly message: string
  /** Null: the rows do not contain it; then the time when it was first seen. */
  readonly sinceMs: number | null
  /** All concerned objects. */
  readonly objects?: readonly ConcernedObject[]
  readonly remedy: string
}

/** The limit for quoted texts of other programs: lists of thousands of objects are stored and read by people. */
const quotedMostCharacters = 300

/** The worst first. `findFirstSeen` returns when a problem of this code was first seen. */
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
  return { code, severity, message, since, objects: objects.slice(0, maxConcernedAgents), remedy }
}

/** Returns the first line, shortened. */
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
