/** `stats agents|vclgroups ID [COUNTER...]`: a line a counter, with a sparkline; drawn again with `--watch`. */
import type { Api } from './api.js'
import { requireFields, requireList, type Fields } from './api-shapes.js'
import { findId } from './find-object.js'
import { showList, showText } from './output.js'
import { drawSparkline } from './stats-sparkline.js'
import { readTimeRange, type TimeRange } from './stats-times.js'
import { isSet, textFlag, word, type Invocation, type Named } from './verb.js'

/** Chosen by us: the interval between samples, unless the coordinator has another. */
const redrawEveryMs = 10_000
/** Chosen by us: wide enough to see, and a table still fits into 100 columns. */
const sparklineWidth = 30

interface Series {
  readonly counter: string
  readonly values: readonly { readonly time: number; readonly value: number }[]
}

export async function showStats(invocation: Invocation, of: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, of, word(invocation, 0))
  const path = `${of.path}/${id}/stats`
  // Said wrong it is said at once, and not at the second time.
  const range = readTimeRange(invocation)
  await showOnce(invocation, { api, path, range })
  if (!isSet(invocation, 'watch')) return undefined
  const { output } = invocation
  for (;;) {
    await new Promise((resume) => setTimeout(resume, redrawEveryMs))
    if (output.isTerminal && output.form === 'table') output.write('\x1b[2J\x1b[H')
    await showOnce(invocation, { api, path, range: readTimeRange(invocation) })
  }
}

export async function listCounters(invocation: Invocation): Promise<undefined> {
  const api = await invocation.openApi()
  const counters = await api.readList('/counters')
  const columns = [{ field: 'name' }, { field: 'kind' }, { field: 'description' }]
  await showList(invocation.output, counters, columns)
}

interface Call {
  readonly api: Api
  readonly path: string
  readonly range: TimeRange
}

async function showOnce(invocation: Invocation, { api, path, range }: Call): Promise<void> {
  const { output } = invocation
  const consolidation = textFlag(invocation, 'function') ?? 'AVERAGE'
  const names = invocation.words.slice(1)
  const { body } = await api.call({
    method: 'GET',
    path: `${path}/${encodeURIComponent(consolidation)}/${range.startSeconds}/${range.endSeconds}`,
    ...(names.length > 0 ? { query: { counters: names.join(',') } } : {}),
  })
  if (output.form === 'json') {
    showText(output, '', body)
    return
  }
  const series = requireList(requireFields(body)['stats']).map(readSeries)
  if (output.form === 'csv') await showList(output, series.flatMap(toPoints), pointColumns)
  else await showList(output, series.map(toLine), lineColumns)
}

const pointColumns = [{ field: 'counter' }, { field: 'time' }, { field: 'value' }]
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

function toPoints({ counter, values }: Series): Fields[] {
  return values.map((point) => ({ counter, ...point }))
}

function toLine({ counter, values }: Series): Fields {
  const numbers = values.map(({ value }) => value)
  if (numbers.length === 0) return { counter, course: '(nothing known)' }
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length
  return {
    counter,
    newest: formatValue(numbers.at(-1) ?? 0),
    least: formatValue(numbers.reduce((a, b) => Math.min(a, b))),
    mean: formatValue(mean),
    most: formatValue(numbers.reduce((a, b) => Math.max(a, b))),
    course: drawSparkline(values, sparklineWidth),
  }
}

const suffixes = ['', 'k', 'M', 'G', 'T', 'P']

/** Three digits: `0.25`, `12.3`, `4.56k`, `789M`. */
export function formatValue(value: number): string {
  let scaled = value
  let step = 0
  while (Math.abs(scaled) >= 999.5 && step < suffixes.length - 1) {
    scaled /= 1000
    step += 1
  }
  const size = Math.abs(scaled)
  const digits = Number.isInteger(scaled) && step === 0 ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : 2
  return `${scaled.toFixed(digits)}${suffixes[step] ?? ''}`
}
