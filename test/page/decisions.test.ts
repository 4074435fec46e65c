/** What the page decides without a browser: the visible rows, their order, the effect of events, the field of an error. */
import fc from 'fast-check'
import t from 'tap'
import { applyEvents, keepRows } from '../../src/page/api/rows.js'
import { isAbout } from '../../src/page/parts/is-about.js'
import { startSentence } from '../../src/page/parts/start-sentence.js'
import { findWindow, nextActive, sortRows } from '../../src/page/parts/visible-rows.js'
import { countStates, filterAgents } from '../../src/page/views/caches/filter-agents.js'

const count = fc.nat(10_000)

void t.test('all visible rows are rendered, and never many more', (t) => {
  fc.assert(
    fc.property(count, count, fc.integer({ min: 1, max: 100 }), (rows, first, visibleCount) => {
      const { from, to } = findWindow(rows, first, visibleCount)
      const last = Math.min(rows, Math.min(first, Math.max(0, rows - visibleCount)) + visibleCount)
      return (
        from >= 0 && to <= rows && from <= to && to >= last && to - from <= visibleCount + 2 * 12
      )
    }),
  )
  t.end()
})

void t.test('a key leads to an existing row, or nowhere', (t) => {
  const keys = fc.constantFrom('ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'a')
  fc.assert(
    fc.property(keys, fc.option(count), count, fc.nat(50), (key, active, rows, visibleCount) => {
      const next = nextActive(key, active, rows, visibleCount)
      return next === null ? key === 'a' || rows === 0 : next >= 0 && next < rows
    }),
  )
  t.end()
})

void t.test('rows are sorted naturally, with missing values last', (t) => {
  const columns = [{ title: 'Name', sortBy: ({ name }: { name: string | null }) => name }]
  const rows = ['edge-10', null, 'edge-2', 'Edge-1'].map((name) => ({ name }))
  const sorted = (isDescending: boolean) =>
    sortRows(rows, columns, { title: 'Name', isDescending }).map(({ name }) => name)

  t.same(sorted(false), ['Edge-1', 'edge-2', 'edge-10', null])
  t.same(sorted(true), ['edge-10', 'edge-2', 'Edge-1', null])
  t.equal(sortRows(rows, columns, null), rows)
  t.end()
})

void t.test('events replace whole objects; the list is reloaded for all others', (t) => {
  const rows = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ]
  const changed = { type: 'agent', data: { id: 2, name: 'B' } } as const
  const made = { type: 'agent', data: { id: 3, name: 'c' } } as const
  const deleted = { type: 'agent', data: { id: 1, deleted: true } } as const

  t.same(applyEvents(rows, [changed, made, deleted], true), [changed.data, made.data])
  t.equal(applyEvents(rows, [deleted], false), null, 'the id may be that of another kind')
  t.equal(applyEvents(rows, [changed], false), null)
  t.equal(applyEvents(rows, [{ type: 'reset', data: { id: 0 } }], true), null)
  t.end()
})

void t.test('a full list keeps its first rows, or the newest if it is sorted by them', (t) => {
  const ids = (isNewestFirst: boolean) =>
    keepRows([{ id: 8 }, { id: 7 }, { id: 9 }], 2, isNewestFirst).map(({ id }) => id)

  t.same(ids(false), [8, 7])
  t.same(ids(true), [9, 8])
  t.end()
})

void t.test('an error is shown at the field that it names', (t) => {
  const about = (errorMsg: string, name: string) => isAbout({ errorMsg }, name)

  t.ok(about('name must not be empty', 'name'))
  t.ok(about('tags[0].id must be integer', 'tags'))
  t.notOk(about('names are unique', 'name'))
  t.notOk(about('the body is missing', 'name'))
  t.notOk(isAbout(null, 'name'))
  t.end()
})

void t.test('an error is shown as a sentence, without changing names', (t) => {
  t.equal(startSentence('the store is away'), 'The store is away')
  t.equal(
    startSentence('expression, position 3: expected a field'),
    'Expression, position 3: expected a field',
  )
  for (const text of [
    'mainVCL must be …',
    'edge-1 was not found',
    'edge: no',
    'a.vcl line 3',
    '',
    'É',
  ])
    t.equal(startSentence(text), text)
  t.end()
})

void t.test('the filters of the address select caches', (t) => {
  const cache = (name: string, state: 1 | 3, tag: string) => ({
    name,
    state,
    stateName: state === 1 ? 'Running' : 'Down',
    engineHost: '127.0.0.1',
    engineState: 'running',
    engineVersion: '9.0.0',
    drift: null,
    config: {
      desired: { revision: 1 },
      lastAttempted: { revision: 1, result: 'applied', error: null, at: null },
      effective: { revision: 1 },
      difference: null,
    },
    tags: [{ id: 1, name: tag, static: true }],
  })
  const all = [cache('edge-1', 1, 'eu'), cache('edge-2', 3, 'US')]
  const none = { tag: '', config: '', version: '' }
  const names = (text: string, state = '') =>
    filterAgents(all, { ...none, text, state }).map((c) => c.name)

  t.same(names(''), ['edge-1', 'edge-2'])
  t.same(names('us'), ['edge-2'])
  t.same(names('edge', 'Down'), ['edge-2'])
  t.same(names('us', 'Running'), [])
  t.match(countStates(all), [
    { value: 'Running', count: 1 },
    { value: 'Down', count: 1 },
  ])
  t.end()
})
