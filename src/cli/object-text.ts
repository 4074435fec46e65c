/** Formats one object for people: a line per field, then lists of objects as tables, then multi-line texts. */
import { isFields, isReference, type Fields } from './api-shapes.js'
import { readField, toCell, toLines } from './cells.js'
import { describeAge, describeTime, readTime } from './human-time.js'
import { toPrintableLine, toPrintableText } from './printable-text.js'
import { formatTable } from './table.js'

interface Style {
  readonly colour: boolean
  readonly widthColumns: number
  readonly now: () => number
}

export function formatObject(object: Fields, style: Style): string {
  const nowMs = style.now()
  const tables = Object.entries(object).filter(isTable)
  const rest = Object.fromEntries(Object.entries(object).filter((entry) => !isTable(entry)))
  const lines = toLines(rest)
  const long = lines.filter(({ text }) => text.includes('\n'))
  const short = lines.filter(({ text }) => !text.includes('\n'))
  const width = short.reduce((most, { label }) => Math.max(most, label.length), 0)
  const rows = short.map(({ label, text }) => {
    const atMs = readTime(label, readField(object, label))
    const shown = atMs === null ? toPrintableLine(text) : describeTime(atMs, nowMs)
    return `${toPrintableLine(label).padEnd(width)}  ${shown === '' ? '-' : shown}`
  })
  const blocks = [
    ...tables.map(
      ([label, list]) => `${toPrintableLine(label)}:\n${formatRows(list, style, nowMs)}`,
    ),
    ...long.map(({ label, text }) => `${toPrintableLine(label)}:\n${toPrintableText(text)}`),
  ].map((text) => `\n${text.trimEnd()}`)
  return `${[...rows, ...blocks].join('\n')}\n`
}

/** Lists of references fit in one line as names; lists of other objects need a table. */
function isTable(entry: [string, unknown]): entry is [string, readonly Fields[]] {
  const [, value] = entry
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(isFields) &&
    !value.every((item) => isReference(item))
  )
}

/** Omits columns that are empty in every row. */
function formatRows(list: readonly Fields[], style: Style, nowMs: number): string {
  const fields = [...new Set(list.flatMap((row) => Object.keys(row)))].filter((field) =>
    list.some((row) => toCell(row[field]) !== ''),
  )
  const cells = list.map((row) =>
    fields.map((field) => {
      const atMs = readTime(field, row[field])
      return atMs === null ? toCell(row[field]) : describeAge(atMs, nowMs)
    }),
  )
  const titles = fields.map(toTitle)
  return formatTable(titles, cells, { ...style, indent: '  ' })
}

/** `deployedAt` → `DEPLOYED AT`. */
function toTitle(field: string): string {
  return field.replace(/([a-z])([A-Z])/g, '$1 $2').toUpperCase()
}
