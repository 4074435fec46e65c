/** Prints results: a table or lines for people, the API's JSON for `--json`, `--csv` for spreadsheets (docs/behaviour.md, Output). */
import { isFields, type Fields } from './api-shapes.js'
import { readField, toCell, toLines, type Column } from './cells.js'
import { formatCsv } from './csv.js'
import { describeAge, readTime } from './human-time.js'
import { formatObject } from './object-text.js'
import { toJsonText, toPrintableText } from './printable-text.js'
import { formatTable } from './table.js'

export interface Output {
  readonly form: 'table' | 'json' | 'csv'
  readonly isTerminal: boolean
  /** Width of the terminal; Infinity without one. */
  readonly widthColumns: number
  readonly colour: boolean
  readonly now: () => number
  /** Writes to standard output. */
  write(text: string): void
  /** Resolves once standard output accepts more data. */
  drained(): Promise<void>
  /** Prints one line beside the result, on a terminal only. */
  notify(line: string): void
}

/** Number of rows of a long list that are written at once. */
const rowsAtOnce = 1000

export async function showList(
  output: Output,
  rows: readonly Fields[],
  columns: readonly Column[],
): Promise<void> {
  const toCells = (row: Fields): readonly string[] =>
    columns.map(({ field }) => toCell(readField(row, field)))
  switch (output.form) {
    case 'json':
      await showJsonList(output, rows)
      return
    case 'csv': {
      const header = columns.map(({ field }) => field)
      await writePieces(output, rows, {
        first: formatCsv(header, []),
        print: (piece) => formatCsv(null, toSafeCells(output, piece.map(toCells))),
      })
      return
    }
    case 'table': {
      const titles = columns.map(({ field, title }) => (title ?? field).toUpperCase())
      const now = output.now()
      const cells = rows.map((row) => columns.map(({ field }) => toHumanCell(row, field, now)))
      output.write(formatTable(titles, cells, output))
    }
  }
}

export function showObject(output: Output, object: Fields): void {
  switch (output.form) {
    case 'json':
      output.write(`${toJsonText(object)}\n`)
      return
    case 'csv': {
      const lines = toLines(object)
      const rows = [lines.map(({ label }) => label), lines.map(({ text }) => text)]
      output.write(formatCsv(null, toSafeCells(output, rows)))
      return
    }
    case 'table':
      output.write(formatObject(object, output))
  }
}

/** `text` is for people, `value` for programs. */
export function showText(output: Output, text: string, value: unknown): void {
  if (output.form === 'json') {
    output.write(`${toJsonText(value)}\n`)
    return
  }
  if (output.form === 'csv') {
    if (isFields(value)) showObject(output, value)
    else if (Array.isArray(value)) showRows(output, value.filter(isFields))
    return
  }
  const ending = text === '' || text.endsWith('\n') ? '' : '\n'
  output.write(`${output.isTerminal ? toPrintableText(text) : text}${ending}`)
}

/** CSV for lists without defined columns: all fields. */
function showRows(output: Output, rows: readonly Fields[]): void {
  const fields = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => fields.map((field) => toCell(row[field])))
  if (fields.length > 0) output.write(formatCsv(fields, toSafeCells(output, cells)))
}

/** Prints the same text as JSON.stringify, without building it in memory as a whole. */
async function showJsonList(output: Output, rows: readonly Fields[]): Promise<void> {
  if (rows.length === 0) {
    output.write('[]\n')
    return
  }
  let separator = '[\n'
  await writePieces(output, rows, {
    first: '',
    print: (piece) => {
      const text = toJsonText(piece).slice(2, -2)
      const printed = `${separator}${text}`
      separator = ',\n'
      return printed
    },
  })
  output.write('\n]\n')
}

interface Pieces {
  readonly first: string
  readonly print: (rows: readonly Fields[]) => string
}

/** Waits for a slow reader between the pieces. */
async function writePieces(
  output: Output,
  rows: readonly Fields[],
  { first, print }: Pieces,
): Promise<void> {
  output.write(first)
  for (let begin = 0; begin < rows.length; begin += rowsAtOnce) {
    output.write(print(rows.slice(begin, begin + rowsAtOnce)))
    await output.drained()
  }
}

function toHumanCell(row: Fields, field: string, nowMs: number): string {
  const value = readField(row, field)
  const atMs = readTime(field, value)
  return atMs === null ? toCell(value) : describeAge(atMs, nowMs)
}

/** Spreadsheets get the values unchanged; on a terminal, control characters are escaped. */
function toSafeCells(
  { isTerminal }: Output,
  rows: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return isTerminal ? rows.map((row) => row.map(toPrintableText)) : rows
}
