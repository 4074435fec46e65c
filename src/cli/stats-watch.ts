/**
 * `stats … --watch`: the same again every few seconds, until Ctrl-C. On a terminal in its place; of CSV only the points that
 * are new, of JSON an object a line. What breaks in between is tried again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { toCell } from './cells.js'
import { formatCsv } from './csv.js'
import { isRefusal } from './follow-events.js'
import { showList, type Output } from './output.js'
import { pointColumns, showTable, toPoints, type Series, type StatsAnswer } from './stats.js'
import type { Invocation } from './verb.js'

/** Chosen by us: as watch(1). */
const redrawEveryMs = 2_000
const clearScreen = '\x1b[H\x1b[2J'

/** Ends by throwing only: CliError when the first attempt fails, or when the coordinator refuses. */
export async function watchStats(
  { output, surroundings }: Invocation,
  read: () => Promise<StatsAnswer>,
): Promise<never> {
  const show = openShow(output)
  await show(await read())
  for (let isBroken = false; ;) {
    await pause(redrawEveryMs)
    try {
      await show(await read())
      isBroken = false
    } catch (error) {
      if (isRefusal(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      if (!isBroken) surroundings.stderr.write(`cachefleet: ${reason}; trying again\n`)
      isBroken = true
    }
  }
}

function openShow(output: Output): (answer: StatsAnswer) => Promise<void> {
  switch (output.form) {
    case 'json':
      return ({ body }) => {
        output.write(`${JSON.stringify(body)}\n`)
        return output.drained()
      }
    case 'csv':
      return openCsv(output)
    case 'table':
      return async ({ series }) => {
        if (output.isTerminal) output.write(clearScreen)
        await showTable(output, series)
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
