/**
 * Differences as readers expect them: whole lines first, then within changed lines. In a diff by characters alone a long new
 * subroutine would merge with everything around it.
 */
import { Change, diff } from '@codemirror/merge'

/** Beyond these limits a change is shown as a whole, so that no text blocks the page. */
const limits = { scanLimit: 2_000, timeout: 200 }
const within = { scanLimit: 500, timeout: 50 }
/** Maximum number of characters compared within one block. */
const maxLetters = 4_000
/** Each distinct line is mapped to one character below the surrogates. */
const maxLines = 0xd000

export function compareLines(a: string, b: string): readonly Change[] {
  const [linesOfA, linesOfB] = [splitLines(a), splitLines(b)]
  const letters = new Map([...new Set([...linesOfA, ...linesOfB])].map((line, at) => [line, at]))
  if (letters.size > maxLines) return diff(a, b, limits)
  const write = (lines: readonly string[]): string =>
    lines.map((line) => String.fromCharCode((letters.get(line) ?? 0) + 1)).join('')
  const [startsInA, startsInB] = [findStarts(linesOfA), findStarts(linesOfB)]
  return diff(write(linesOfA), write(linesOfB), limits).flatMap((lines) =>
    compareWithin(
      new Change(
        startsInA[lines.fromA] ?? 0,
        startsInA[lines.toA] ?? a.length,
        startsInB[lines.fromB] ?? 0,
        startsInB[lines.toB] ?? b.length,
      ),
      a,
      b,
    ),
  )
}

/** Splits into lines with their line ends. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]+\n?|\n/g) ?? []
}

/** Returns the offset of each line, and of the end of the last one. */
function findStarts(lines: readonly string[]): readonly number[] {
  let at = 0
  return [0, ...lines.map((line) => (at += line.length))]
}

function compareWithin(change: Change, a: string, b: string): readonly Change[] {
  const { fromA, toA, fromB, toB } = change
  if (toA - fromA + toB - fromB > maxLetters) return [change]
  return diff(a.slice(fromA, toA), b.slice(fromB, toB), within).map(
    (inner) =>
      new Change(fromA + inner.fromA, fromA + inner.toA, fromB + inner.fromB, fromB + inner.toB),
  )
}
