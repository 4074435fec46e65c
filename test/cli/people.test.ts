/** What is made for people's eyes: times, tables that fit, objects, and moments as they are typed. */
import fc from 'fast-check'
import t from 'tap'
import { describeAge, describeTime, readTime } from '../../src/cli/human-time.js'
import { readMoment } from '../../src/cli/moment.js'
import { formatObject } from '../../src/cli/object-text.js'
import { fitWidths, formatTable } from '../../src/cli/table.js'
import { toPrintableLine } from '../../src/cli/printable-text.js'

const nowMs = Date.parse('2026-11-20T12:00:00.000Z')
const day = 86_400_000

void t.test('a time is told by how long ago it was, a far one by its date', (t) => {
  const table: [number, string][] = [
    [0, 'now'],
    [999, 'now'],
    [-999, 'now'],
    [1000, '1 s ago'],
    [119_000, '1 min ago'],
    [3 * 3_600_000, '3 h ago'],
    [59 * day, '59 d ago'],
    [61 * day, '2026-09-20'],
    [-90_000, 'in 1 min'],
    [-7 * day, 'in 7 d'],
    [-400 * day, '2027-12-25'],
  ]
  for (const [agoMs, text] of table) t.equal(describeAge(nowMs - agoMs, nowMs), text)
  t.equal(describeTime(nowMs - 5000, nowMs), '2026-11-20 11:59:55 UTC (5 s ago)')
  t.equal(describeTime(nowMs - 400 * day, nowMs), '2025-10-16 12:00:00 UTC')
  fc.assert(
    fc.property(fc.integer({ min: -9e15, max: 9e15 }), (at) => {
      t.type(describeTime(at, nowMs), 'string')
    }),
  )
  t.end()
})

void t.test('only fields that hold times are read as such', (t) => {
  const iso = '2026-11-20T12:00:00.000Z'
  for (const field of ['at', 'created', 'lastHeartbeat', 'deployedAt', 'config.lastAttempted.at'])
    t.equal(readTime(field, iso), nowMs, field)
  t.equal(readTime('expires', 1_795_176_000), 1_795_176_000_000)
  t.equal(readTime('refreshExpire', null), null)
  for (const field of ['name', 'label', 'format', 'static']) t.equal(readTime(field, iso), null)
  t.equal(readTime('created', 'yesterday'), null)
  t.end()
})

void t.test('a moment is typed as a distance, a date or seconds', (t) => {
  const nowSeconds = nowMs / 1000
  const table: [string, number][] = [
    ['90d', nowSeconds + 90 * 86_400],
    ['12h', nowSeconds + 43_200],
    ['30m', nowSeconds + 1800],
    ['45s', nowSeconds + 45],
    ['2026-11-21', nowSeconds + 43_200],
    ['2026-11-20T13:00+01:00', nowSeconds],
    ['1795176000', 1_795_176_000],
  ]
  for (const [text, seconds] of table) t.equal(readMoment('expire', text, nowMs), seconds, text)
  for (const text of ['', 'soon', '1w', '-1d', '2026-13-01', '2026-11-20 13:00', '1.5h'])
    t.throws(() => readMoment('expire', text, nowMs), { exitCode: 2, message: /--expire is/ })
  t.end()
})

void t.test('a table is cut to the terminal, first where rows do not differ by name', (t) => {
  const rows = [['1', 'edge-with-a-long-name', 'eu, us, test, canary, web', 'running']]
  const titles = ['ID', 'NAME', 'TAGS', 'STATE']
  const shown = formatTable(titles, rows, { colour: false, widthColumns: 50 })
  t.equal(
    shown,
    `ID  NAME                   TAGS            STATE
1   edge-with-a-long-name  eu, us, test,…  running\n`,
  )
  const wide = formatTable(['ID', 'NAME'], [['1', '漢字漢字漢字漢字']], {
    ...{ colour: false, widthColumns: 13 },
  })
  t.equal(wide, 'ID  NAME\n1   漢字漢字…\n', 'no character is cut in two')
  t.end()
})

void t.test('a column is never wider than it needs, and the table fits if it can', (t) => {
  const widths = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(widths, fc.integer({ min: 1, max: 300 }), (needed, columns) => {
      const fitted = fitWidths(needed, columns)
      const total = fitted.reduce((sum, width) => sum + width, 2 * (needed.length - 1))
      const least = needed.reduce((sum, width) => sum + Math.min(width, 8), 2 * (needed.length - 1))
      t.ok(fitted.every((width, index) => width <= (needed[index] ?? 0)))
      t.ok(total <= Math.max(columns, least), `${total} of ${columns}`)
    }),
  )
  t.strictSame(fitWidths([5, 500], Infinity), [5, 500])
  t.end()
})

void t.test('an object is lines, tables of what it lists, and texts of several lines', (t) => {
  const group = {
    id: 7,
    name: 'site\u001b[31m',
    drift: null,
    domains: [{ id: 5, fqdn: 'a.example' }],
    agentStates: [
      { agent: { id: 9, name: 'edge-1' }, state: 'applied', error: null, deployedAt: null },
      { agent: { id: 10, name: 'edge-10' }, state: 'failed', error: 'no\nVCL', deployedAt: null },
    ],
    created: '2026-11-20T11:59:00.000Z',
    source: 'vcl 4.1;\n\u0007\n',
  }
  const style = { colour: false, widthColumns: 80, now: () => nowMs }
  t.equal(
    formatObject(group, style),
    `id       7
name     site\\u001b[31m
drift    -
domains  a.example (5)
created  2026-11-20 11:59:00 UTC (1 min ago)

agentStates:
  AGENT    STATE    ERROR
  edge-1   applied
  edge-10  failed   no …

source:
vcl 4.1;
\\u0007
`,
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = formatObject({ value }, style)
      t.equal(text, text.split('\n').map(toPrintableLine).join('\n'))
    }),
  )
  t.end()
})
