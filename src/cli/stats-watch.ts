/**
 * `stats … --watch`: repeats the output every few seconds until Ctrl-C. A terminal is redrawn in place; CSV prints only new points, JSON
 * one object per line. Failed reads are retried.
 */
import { toCell } from './cells.js'
import { formatCsv } from './csv.js'
import { showList, type Output } from './output.js'
import {
  openStats,
  pointColumns,
  showTable,
  toPoints,
  type Series,
  type StatsAnswer,
} from './stats.js'
import type { Invocation, Named } from './verb.js'
import { clearScreen, watch } from './watch.js'

/** As watch(1) does. */
const redrawEveryMs = 2_000
/** Lines for the caption, the title, the count of omitted rows, and the cursor. */
const linesBeside = 4

/** Only ends by throwing: CliError if the first attempt fails or the coordinator refuses. */
export async function watchStats(invocation: Invocation, of: Named): Promise<never> {
  const { output, system } = invocation
  const read = await openStats(invocation, of)
  // A terminal may be resized; one of unknown height reports 0 or undefined.
  const countRows = (): number =>
    output.isTerminal ? Math.max(1, (system.stdout.rows || Infinity) - linesBeside) : Infinity
  const show = openShow(output, countRows)
  return watch<StatsAnswer, never>(system, {
    everyMs: redrawEveryMs,
    read,
    show: async (answer) => {
      await show(answer)
      return undefined
    },
  })
}

function openShow(output: Output, countRows: () => number): (answer: StatsAnswer) => Promise<void> {
  switch (output.form) {
    case 'json':
      return ({ body }) => {
        output.write(`${JSON.stringify(body)}\n`)
        return output.drained()
      }
    case 'csv':
      return openCsv(output)
    case 'table':
      return async ({ series, caption }) => {
        if (output.isTerminal) output.write(`${clearScreen}${caption}\n`)
        const rows = countRows()
        await showTable(output, series.slice(0, rows))
        const left = series.length - rows
        if (left > 0) output.notify(`${left} more do not fit here; name the ones to show`)
      }
  }
}

function openCsv(output: Output): (answer: StatsAnswer) => Promise<void> {
  const newest = new Map<string, number>()
  let isBegun = false
  return async ({ series }) => {
    const points = series.map((one) => keepNew(one, newest)).flatMap(toPoints)
    if (isBegun) {
      const rows = points.map((point) => pointColumns.map(({ field }) => toCell(point[field])))
      output.write(formatCsv(null, rows))
      await output.drained()
    } else await showList(output, points, pointColumns)
    isBegun = true
  }
}

function keepNew({ counter, values }: Series, newest: Map<string, number>): Series {
  const before = newest.get(counter) ?? 0
  const after = values.filter(({ time }) => time > before)
  newest.set(counter, after.at(-1)?.time ?? before)
  return { counter, values: after }
}
