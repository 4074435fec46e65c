/**
 * What changed between two texts, as unified diff text. Myers' greedy algorithm over lines, with a bound on its work:
 * beyond it the changed middle is shown as removed and added whole, which is right, only not the shortest.
 */

/** Chosen by us: comparisons of lines before the middle is shown whole; about 0.2 s. */
const comparisonLimit = 20_000_000
/** Chosen by us: edits that are looked for; the trace holds about this many squared numbers (4 MB). */
const editLimit = 1_000
const contextLines = 3

interface Edit {
  readonly kind: ' ' | '-' | '+'
  readonly line: string
}

export interface DiffSide {
  readonly label: string
  readonly text: string
}

/** Empty when the texts are equal. Lines end with LF only; a CR is part of its line. */
export function diffTexts(from: DiffSide, to: DiffSide): string {
  if (from.text === to.text) return ''
  const edits = diffLines(splitLines(from.text), splitLines(to.text))
  return `--- ${from.label}\n+++ ${to.label}\n${printHunks(edits)}`
}

/** Each line with its LF; the last one without when the text does not end with one. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function diffLines(from: readonly string[], to: readonly string[]): Edit[] {
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && from[start] === to[start]) start += 1
  let end = 0
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end += 1
  const keep = (line: string): Edit => ({ kind: ' ', line })
  return [
    ...from.slice(0, start).map(keep),
    ...diffMiddle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map(keep),
  ]
}

function diffMiddle(from: readonly string[], to: readonly string[]): Edit[] {
  const trace = traceShortest(number(from, to), from.length)
  return trace ? followTrace(trace, from, to) : replaceAll(from, to)
}

function replaceAll(from: readonly string[], to: readonly string[]): Edit[] {
  return [
    ...from.map((line): Edit => ({ kind: '-', line })),
    ...to.map((line): Edit => ({ kind: '+', line })),
  ]
}

/** Both texts as one array of numbers, the same for equal lines, so that a comparison costs the same for any length. */
function number(from: readonly string[], to: readonly string[]): Int32Array {
  const numbers = new Map<string, number>()
  const numbered = new Int32Array(from.length + to.length)
  for (const [index, line] of [...from, ...to].entries()) {
    const known = numbers.get(line) ?? numbers.size
    if (known === numbers.size) numbers.set(line, known)
    numbered[index] = known
  }
  return numbered
}

/** The furthest points reached after each number of edits; undefined when a bound was met. */
function traceShortest(lines: Int32Array, split: number): Int32Array[] | undefined {
  const from = lines.subarray(0, split)
  const to = lines.subarray(split)
  const trace: Int32Array[] = []
  let reached = new Int32Array([0, 0, 0])
  let comparisons = 0
  for (let edits = 0; edits <= editLimit; edits += 1) {
    const next = new Int32Array(2 * edits + 3) // diagonal k at k + edits + 1
    for (let k = -edits; k <= edits; k += 2) {
      let x = firstPoint(reached, edits, k)
      const startX = x
      while (x < from.length && x - k < to.length && from[x] === to[x - k]) x += 1
      comparisons += x - startX + 1
      next[k + edits + 1] = x
      if (x >= from.length && x - k >= to.length) return [...trace, next]
    }
    if (comparisons > comparisonLimit) return undefined
    trace.push(next)
    reached = next
  }
  return undefined
}

/** Where diagonal `k` starts with its `edits`th edit: one further right or one further down, whichever is further on. */
function firstPoint(reached: Int32Array, edits: number, k: number): number {
  if (edits === 0) return 0
  return movesDown(reached, edits, k)
    ? at(reached, edits - 1, k + 1)
    : at(reached, edits - 1, k - 1) + 1
}

function movesDown(reached: Int32Array, edits: number, k: number): boolean {
  return (
    k === -edits || (k !== edits && at(reached, edits - 1, k - 1) < at(reached, edits - 1, k + 1))
  )
}

function at(reached: Int32Array, edits: number, k: number): number {
  return reached[k + edits + 1] ?? 0
}

function followTrace(
  trace: readonly Int32Array[],
  from: readonly string[],
  to: readonly string[],
): Edit[] {
  const backwards: Edit[] = []
  let x = from.length
  let y = to.length
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const before = trace[edits - 1]
    const k = x - y
    const down = before !== undefined && movesDown(before, edits, k)
    const startX = before === undefined ? 0 : firstPoint(before, edits, k)
    for (; x > startX; x -= 1, y -= 1) backwards.push({ kind: ' ', line: from[x - 1] ?? '' })
    if (before === undefined) break
    if (down) backwards.push({ kind: '+', line: to[(y -= 1)] ?? '' })
    else backwards.push({ kind: '-', line: from[(x -= 1)] ?? '' })
  }
  return backwards.reverse()
}

interface Hunk {
  readonly start: number
  readonly end: number
}

function printHunks(edits: readonly Edit[]): string {
  let fromLine = 0
  let toLine = 0
  let position = 0
  let printed = ''
  for (const hunk of findHunks(edits)) {
    fromLine += hunk.start - position // what lies between hunks is kept on both sides
    toLine += hunk.start - position
    position = hunk.end
    const lines = edits.slice(hunk.start, hunk.end)
    const fromCount = lines.filter((edit) => edit.kind !== '+').length
    const toCount = lines.filter((edit) => edit.kind !== '-').length
    printed += `@@ -${range(fromLine, fromCount)} +${range(toLine, toCount)} @@\n`
    printed += lines.map(printEdit).join('')
    fromLine += fromCount
    toLine += toCount
  }
  return printed
}

/** Changes with the lines around them; those that touch are one. */
function findHunks(edits: readonly Edit[]): Hunk[] {
  const hunks: Hunk[] = []
  for (const [index, edit] of edits.entries()) {
    if (edit.kind === ' ') continue
    const start = Math.max(0, index - contextLines)
    const end = Math.min(edits.length, index + contextLines + 1)
    const last = hunks.at(-1)
    if (last && start <= last.end) hunks[hunks.length - 1] = { start: last.start, end }
    else hunks.push({ start, end })
  }
  return hunks
}

/** Lines count from 1; an empty range names the line before it. */
function range(before: number, count: number): string {
  const start = count === 0 ? before : before + 1
  return count === 1 ? `${start}` : `${start},${count}`
}

function printEdit(edit: Edit): string {
  const ending = edit.line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'
  return `${edit.kind}${edit.line}${ending}`
}
