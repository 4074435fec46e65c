/** `overview`: the fleet at a glance, problems first. Omits what the caller may not read. */
import { overviewPath, type Figures, type Overview } from '../resources/overview.js'
import { isFields, type Fields } from './api-shapes.js'
import { describeAge } from './human-time.js'
import { showText, type Output } from './output.js'
import { formatValue } from './stats.js'
import { formatTable } from './table.js'
import type { Invocation } from './verb.js'

/** Number of recent changes to show; --json prints all. */
const changesShown = 10

export async function showOverview(invocation: Invocation): Promise<undefined> {
  const { output } = invocation
  const api = await invocation.openApi()
  const answer = await api.readObject(overviewPath)
  // All parts are optional, because a coordinator of another version may omit some.
  const overview = answer as Partial<Overview>
  showText(output, output.form === 'table' ? formatOverview(overview, output) : '', answer)
}

function formatOverview(overview: Partial<Overview>, output: Output): string {
  const { changes, worst } = overview
  const sections = [
    formatStates(overview),
    formatFigures(overview, output),
    formatProblems(overview, output),
    formatWorst('caches', worst?.agents, output),
    formatWorst('groups', worst?.groups, output),
    formatChanges(changes, output),
  ]
  return sections.filter((section) => section !== '').join('\n')
}

/** For example `caches    998 Running, 2 Down`. */
function formatStates({ agents, groups, backends }: Partial<Overview>): string {
  const lines = [
    ['caches', agents],
    ['groups', groups],
    ['backends', backends],
  ] as const
  return lines
    .flatMap(([label, counts]) => (isFields(counts) ? [[label, describeCounts(counts)]] : []))
    .map(([label = '', text = '']) => `${label.padEnd(labelWidth)}${text}\n`)
    .join('')
}

const labelWidth = 'backends  '.length

function describeCounts(counts: Fields): string {
  const some = Object.entries(counts).filter(([, count]) => count !== 0)
  return some.map(([name, count]) => `${String(count)} ${name}`).join(', ') || 'none'
}

const rows: readonly (readonly [label: string, name: keyof Figures])[] = [
  ['requests', 'requests'],
  ['hit ratio', 'hitRatio'],
  ['failed fetches', 'failedFetches'],
  ['errors', 'errors'],
]

function formatFigures({ now, hourBefore }: Partial<Overview>, output: Output): string {
  if (!now) return ''
  const known = rows.filter(([, name]) => now[name] !== null)
  if (known.length === 0) return ''
  return formatTable(
    ['TRAFFIC', 'NOW', 'AN HOUR AGO'],
    known.map(([label, name]) => [
      label,
      describeFigure(name, now[name]),
      describeFigure(name, hourBefore?.[name] ?? null),
    ]),
    output,
  )
}

/** For example `93.4 %`, `1.23k/s`. */
function describeFigure(name: keyof Figures, value: number | null): string {
  if (value === null) return '-'
  return name === 'hitRatio' ? `${(100 * value).toFixed(1)} %` : `${formatValue(value)}/s`
}

function formatProblems({ problems, problemsTotal }: Partial<Overview>, output: Output): string {
  if (!problems) return ''
  if (problems.length === 0) return 'No problems.\n'
  const total = problemsTotal ?? problems.length
  const listed = total > problems.length ? `, the worst ${problems.length}` : ''
  const table = formatTable(
    ['OBJECT', 'PROBLEM', 'SINCE', 'REMEDY'],
    problems.map(({ object, message, since, remedy }) => [
      `${object.type} ${object.name}`,
      message,
      describeAge(Date.parse(since), output.now()),
      remedy,
    ]),
    output,
  )
  return `${total} ${total === 1 ? 'problem' : 'problems'}${listed}:\n${table}`
}

function formatWorst(
  what: string,
  worst: NonNullable<Overview['worst']>['groups'] | undefined,
  output: Output,
): string {
  if (!worst || worst.length === 0) return ''
  return formatTable(
    [`WORST ${what.toUpperCase()}`, 'REQUESTS', 'HIT RATIO', 'FAILED FETCHES'],
    worst.map(({ name, requests, hitRatio, failedFetches }) => [
      name,
      describeFigure('requests', requests),
      describeFigure('hitRatio', hitRatio),
      describeFigure('failedFetches', failedFetches),
    ]),
    output,
  )
}

function formatChanges(changes: Overview['changes'] | undefined, output: Output): string {
  if (!changes || changes.length === 0) return ''
  return formatTable(
    ['CHANGED', 'BY', 'WHAT'],
    changes
      .slice(0, changesShown)
      .map(({ at, account, text }) => [describeAge(Date.parse(at), output.now()), account, text]),
    output,
  )
}
