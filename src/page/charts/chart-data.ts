/** Computes what a chart draws from its columns: stacked lines, and lines of an earlier period. Pure functions. */
import type { Columns } from './align-series.js'

/** Undefined: only other columns have a row here; the line continues across it. Null: unknown, a gap. */
type Drawn = readonly (number | null | undefined)[]

export interface ChartData {
  readonly times: readonly number[]
  readonly values: readonly Drawn[]
  /** Values as drawn: in a stack, each is added to the sum of those below it. */
  readonly lines: readonly Drawn[]
  /** Values of an earlier period, shifted to this one: one line each, or their sum if stacked; empty: no comparison. */
  readonly before: readonly Drawn[]
}

interface DataParts {
  readonly columns: Columns
  readonly before?: Columns | undefined
  readonly isStacked?: boolean | undefined
}

export function layOut({ columns, before, isStacked = false }: DataParts): ChartData {
  const earlier = before && (isStacked ? { ...before, values: [sumUp(before.values)] } : before)
  const times = earlier ? mergeTimes(columns.times, earlier.times) : columns.times
  const values = spread(columns, times)
  return {
    times,
    values,
    lines: isStacked ? stack(values) : values,
    before: earlier ? spread(earlier, times) : [],
  }
}

function mergeTimes(a: readonly number[], b: readonly number[]): readonly number[] {
  return [...new Set([...a, ...b])].sort((one, other) => one - other)
}

function spread({ times, values }: Columns, over: readonly number[]): readonly Drawn[] {
  if (over === times) return values
  const rows = new Map(times.map((time, row) => [time, row]))
  return values.map((column) =>
    over.map((time) => {
      const row = rows.get(time)
      return row === undefined ? undefined : column[row]
    }),
  )
}

/** An unknown value adds nothing; a row in which all are unknown is a gap. */
function stack(values: readonly Drawn[]): readonly Drawn[] {
  return values.map((column, at) =>
    column.map((value, row) => {
      const below = values.slice(0, at + 1).map((one) => one[row])
      if (below.every((one) => one === undefined)) return undefined
      if (values.every((one) => one[row] == null)) return value
      return below.reduce<number>((sum, one) => sum + (one ?? 0), 0)
    }),
  )
}

function sumUp(values: Columns['values']): readonly (number | null)[] {
  const [first = []] = values
  return first.map((_, row) => {
    const known = values.flatMap((column) => column[row] ?? [])
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  })
}

/** Maximum number of rows of other columns to skip; beyond that it is a gap. */
const maxNear = 4

/** Returns the value at a row, or at the nearest row that the column has. */
export function valueNear(column: Drawn | undefined, row: number): number | null | undefined {
  for (let distance = 0; distance <= maxNear; distance++)
    for (const at of [row - distance, row + distance]) {
      const value = column?.[at]
      if (value !== undefined) return value
    }
  return undefined
}

/** Returns the newest row with a value. */
export function lastKnown({ times, values }: Pick<ChartData, 'times' | 'values'>): number {
  for (let row = times.length - 1; row > 0; row--)
    if (values.some((column) => column[row] != null)) return row
  return 0
}
