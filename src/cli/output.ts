/** Prints results: a table or lines for people, `--json` as the API answered, `--csv` for spreadsheets (choices: 8). */
import type { Fields } from './api-shapes.js'
import { readField, toCell, toLines, type Column } from './cells.js'
import { formatCsv } from './csv.js'
import { toJsonText, toPrintableLine, toPrintableText } from './printable-text.js'

export interface Output {
  readonly form: 'table' | 'json' | 'csv'
  readonly isTerminal: boolean
  readonly colour: boolean
  /** To standard output. */
  write(text: string): void
}

export async function showList(
  output: Output,
  rows: readonly Fields[],
  columns: readonly Column[],
): Promise<void> {
  if (output.form === 'json') {
    showJson(output, rows)
    return
  }
  const cells = rows.map((row) => columns.map(({ field }) => toCell(readField(row, field))))
  if (output.form === 'csv') {
    const header = columns.map(({ field }) => field)
    showCsv(output, header, cells)
    return
  }
  const { formatTable } = await import('./table.js')
  const titles = columns.map(({ field, title }) => (title ?? field).toUpperCase())
  output.write(formatTable(titles, cells, { colour: output.colour }))
}

export function showObject(output: Output, object: Fields): void {
  if (output.form === 'json') {
    showJson(output, object)
    return
  }
  const lines = toLines(object)
  if (output.form === 'csv') {
    const header = lines.map(({ label }) => label)
    showCsv(output, header, [lines.map(({ text }) => text)])
    return
  }
  output.write(formatLines(lines))
}

/** `text` for people, `value` for `--json`. */
export function showText(output: Output, text: string, value: unknown): void {
  if (output.form === 'json') {
    showJson(output, value)
    return
  }
  const ending = text === '' || text.endsWith('\n') ? '' : '\n'
  output.write(`${output.isTerminal ? toPrintableText(text) : text}${ending}`)
}

function showJson(output: Output, value: unknown): void {
  output.write(`${toJsonText(value)}\n`)
}

/** A spreadsheet gets the values as they are, a terminal does not. */
function showCsv(
  output: Output,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const shown = output.isTerminal ? rows.map((row) => row.map(toPrintableText)) : rows
  output.write(formatCsv(header, shown))
}

/** Texts of several lines stand below, as they are. */
function formatLines(lines: ReturnType<typeof toLines>): string {
  const short = lines.filter(({ text }) => !text.includes('\n'))
  const long = lines.filter(({ text }) => text.includes('\n'))
  const width = Math.max(0, ...short.map(({ label }) => label.length))
  const rows = short.map(({ label, text }) =>
    `${label.padEnd(width)}  ${toPrintableLine(text)}`.trimEnd(),
  )
  const blocks = long.map(({ label, text }) => `\n${label}:\n${toPrintableText(text).trimEnd()}`)
  return `${[...rows, ...blocks].join('\n')}\n`
}
