/** `stats agents|vclgroups ID [COUNTER...]`: prints one line per counter, with a sparkline. */
import { requireFields, requireList, type Fields } from './api-shapes.js'
import { openObject } from './find-object.js'
import { printTime } from './human-time.js'
import { showList, showText, type Output } from './output.js'
import { drawSparkline, findAxis, type Axis } from './stats-sparkline.js'
import { readTimeRange } from './stats-times.js'
import { textFlag, type Invocation, type Named } from './verb.js'

/** Wide enough to be readable, and the table still fits into 100 columns. */
const sparklineWidth = 30

export interface Series {
  readonly counter: string
  readonly values: readonly { readonly time: number; readonly value: number }[]
}

export interface StatsAnswer {
  /** As the API returned it. */
  readonly body: unknown
  readonly series: readonly Series[]
  /** Time range, step and unit of the rows. */
  readonly caption: string
}

export async function showStats(invocation: Invocation, of: Named): Promise<undefined> {
  const read = await openStats(invocation, of)
  const { output } = invocation
  const { body, series, caption } = await read()
  if (output.form === 'json') showText(output, '', body)
  else if (output.form === 'csv') await showList(output, series.flatMap(toPoints), pointColumns)
  else {
    await showTable(output, series)
    if (caption !== '') output.notify(caption)
  }
  return undefined
}

export async function listCounters(invocation: Invocation): Promise<undefined> {
  const api = await invocation.openApi()
  const counters = await api.readList('/counters')
  const columns = [{ field: 'name' }, { field: 'kind' }, { field: 'description' }]
  await showList(invocation.output, counters, columns)
}

/** Returns a function that makes one call each time; a relative time such as `12h` is evaluated anew for each call. */
export async function openStats(
  invocation: Invocation,
  of: Named,
): Promise<() => Promise<StatsAnswer>> {
  // Reports an invalid time before any call.
  readTimeRange(invocation)
  const { api, path } = await openObject(invocation, of)
  const consolidation = textFlag(invocation, 'function') ?? 'AVERAGE'
  const names = invocation.words.slice(1)
  return async () => {
    const { startSeconds, endSeconds } = readTimeRange(invocation)
    const { body } = await api.call({
      method: 'GET',
      path: `${path}/stats/${encodeURIComponent(consolidation)}/${startSeconds}/${endSeconds}`,
      ...(names.length > 0 ? { query: { counters: names.join(',') } } : {}),
    })
    const series = requireList(requireFields(body)['stats']).map(readSeries)
    return { body, series, caption: describeRows(series, consolidation) }
  }
}

/** For example `2026-11-20 22:05:10 to 23:05:00 UTC, rows of 10 s, counters per second`; empty for fewer than two rows. */
function describeRows(series: readonly Series[], consolidation: string): string {
  const { from, to, step, places } = placeAll(series)
  if (places < 2) return ''
  const [begin, end] = [printTime(from * 1000), printTime(to * 1000)]
  const day = begin.slice(0, 11)
  const unit =
    consolidation.toUpperCase() === 'TOTAL' ? 'events of each row' : 'counters per second'
  return `${begin} to ${end.startsWith(day) ? end.slice(day.length) : end} UTC, rows of ${step} s, ${unit}`
}

export async function showTable(output: Output, series: readonly Series[]): Promise<void> {
  const axis = placeAll(series)
  const lines = series.map((one) => toLine(one, axis))
  await showList(output, lines, lineColumns)
}

function placeAll(series: readonly Series[]): Axis {
  const all = series.map(({ values }) => values)
  return findAxis(all, sparklineWidth)
}

export const pointColumns = [{ field: 'counter' }, { field: 'time' }, { field: 'value' }]
const lineColumns = [
  { field: 'counter' },
  { field: 'newest' },
  { field: 'least' },
  { field: 'mean' },
  { field: 'most' },
  { field: 'course' },
]

function readSeries({ counter, values }: Fields): Series {
  return {
    counter: String(counter),
    values: requireList(values).map(({ time, value }) => ({
      time: Number(time),
      value: Number(value),
    })),
  }
}

export function toPoints({ counter, values }: Series): Fields[] {
  return values.map((point) => ({ counter, ...point }))
}

function toLine({ counter, values }: Series, axis: Axis): Fields {
  const numbers = values.map(({ value }) => value)
  if (numbers.length === 0) return { counter, course: '(nothing known)' }
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length
  return {
    counter,
    newest: formatValue(numbers.at(-1) ?? 0),
    least: formatValue(numbers.reduce((a, b) => Math.min(a, b))),
    mean: formatValue(mean),
    most: formatValue(numbers.reduce((a, b) => Math.max(a, b))),
    course: drawSparkline(values, axis),
  }
}

const suffixes = ['', 'k', 'M', 'G', 'T', 'P']

/** Three significant digits: `0.25`, `12.3`, `4.56k`, `789M`. */
export function formatValue(value: number): string {
  let scaled = value
  let step = 0
  while (Math.abs(scaled) >= 999.5 && step < suffixes.length - 1) {
    scaled /= 1000
    step += 1
  }
  // Based on the rounded value: 9.996 is shown as 10.0.
  const size = Math.abs(Number(scaled.toPrecision(3)))
  const digits = Number.isInteger(scaled) && step === 0 ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : 2
  return `${scaled.toFixed(digits)}${suffixes[step] ?? ''}`
}
