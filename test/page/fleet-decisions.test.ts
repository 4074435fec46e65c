/** What the view of the fleet decides without a browser: order, selection, the tiles of the map and their places, lines. */
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../src/resources/agent-state.js'
import type { Problem } from '../../src/resources/problem.js'
import { judgeConfig, rankConfig, type Judged } from '../../src/page/views/caches/judge-config.js'
import {
  countWords,
  facets,
  filterAgents,
  splitName,
} from '../../src/page/views/caches/filter-agents.js'
import { readSorting, formatSorting, toRates } from '../../src/page/views/caches/sort-caches.js'
import { judgeSelection, keepKnown, setRange } from '../../src/page/parts/selection.js'
import { applyTags, planTags } from '../../src/page/views/caches/plan-tags.js'
import { findReason, rankCache, sortByName } from '../../src/page/views/caches/judge-cache.js'
import { groupByTags } from '../../src/page/views/caches/map/group-tiles.js'
import { countHealth, toTiles } from '../../src/page/views/caches/map/judge-tile.js'
import {
  findPlace,
  findTile,
  layoutTiles,
  nextTile,
} from '../../src/page/views/caches/map/layout-tiles.js'
import { drawLine } from '../../src/page/views/caches/sparkline-path.js'

const problem = (severity: 2 | 3, message = 'it is ill'): Problem => ({
  code: 'drift',
  severity,
  message,
  since: '2026-01-01T00:00:00.000Z',
  objects: [],
  remedy: 'mend it',
})
const ids = fc.uniqueArray(fc.nat(50), { minLength: 1, maxLength: 30 })

void t.test('a range holds all rows between two clicked ones, in either order', (t) => {
  fc.assert(
    fc.property(ids, fc.nat(), fc.nat(), fc.boolean(), (rows, a, b, isOn) => {
      const [from, to] = [a % rows.length, b % rows.length]
      const before = new Set(isOn ? [] : rows)
      const there = setRange(before, rows, { from, to, isOn })
      const back = setRange(before, rows, { from: to, to: from, isOn })
      return (
        rows.every((id, at) => {
          const isBetween = at >= Math.min(from, to) && at <= Math.max(from, to)
          return there.has(id) === (isBetween ? isOn : !isOn)
        }) && [...there].sort().join() === [...back].sort().join()
      )
    }),
  )
  t.equal(judgeSelection(new Set([1]), [1, 2]), 'some')
  t.equal(judgeSelection(new Set([1, 2, 3]), [1, 2]), 'all')
  t.equal(judgeSelection(new Set([3]), [1, 2]), 'none')
  const chosen = new Set([1, 2])
  t.equal(keepKnown(chosen, new Set([1, 2, 3])), chosen)
  t.same([...keepKnown(chosen, new Set([2]))], [2])
  t.end()
})

void t.test('caches with the worst problems are first, then those with the worst states', (t) => {
  const rank = (state: (typeof agentStates)[keyof typeof agentStates], ...of: Problem[]) =>
    rankCache({ state, problems: of })

  t.ok(rank(agentStates.Running, problem(3)) < rank(agentStates.Running, problem(2)))
  t.ok(rank(agentStates.Running, problem(2)) < rank(agentStates.Running))
  t.ok(rank(agentStates.Down, problem(3)) < rank(agentStates.Locked, problem(3)))
  t.equal(findReason({ state: 1, problems: [] }), null)
  t.match(findReason({ state: 1, problems: [problem(2), problem(3, 'worse')] }), {
    message: 'worse',
    others: 1,
  })
  const names = ['edge-10', 'edge-2', 'Edge-1', 'a-1-b-20', 'a-1-b-3'].map((name) => ({ name }))
  t.same(
    sortByName(names).map(({ name }) => name),
    ['a-1-b-3', 'a-1-b-20', 'Edge-1', 'edge-2', 'edge-10'],
  )
  t.end()
})

const tagName = fc.constantFrom('eu', 'us', 'web', 'api', 'simulated')
const fleet = fc.array(
  fc.record({
    tags: fc.uniqueArray(
      tagName.map((name) => ({ name })),
      { selector: (x) => x.name },
    ),
  }),
  { minLength: 1, maxLength: 60 },
)

void t.test('each cache is one tile in one group', (t) => {
  fc.assert(
    fc.property(fleet, (agents) => {
      const all = groupByTags(agents).flatMap((group) => group.agents)
      return all.length === agents.length && new Set(all).size === agents.length
    }),
  )
  const many = Array.from({ length: 400 }, (_, at) => ({ tags: [{ name: `${at >> 1}` }] }))
  t.equal(groupByTags(many).length, 40)
  const all = [{ tags: [{ name: 'eu' }] }, { tags: [{ name: 'eu' }, { name: 'own' }] }]
  t.match(groupByTags(all), [{ title: 'All caches' }], 'tags of all, or of one, do not group')
  t.end()
})

const counts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 })
const [width, height] = [fc.integer({ min: 200, max: 1900 }), fc.integer({ min: 100, max: 1000 })]

void t.test('tiles fit into the map without overlap, and are found at their place', (t) => {
  fc.assert(
    fc.property(counts, width, height, (sizes, broad, high) => {
      const layout = layoutTiles(sizes, broad, high)
      const all = sizes.reduce((sum, count) => sum + count, 0)
      const seen = new Set<string>()
      for (let index = 0; index < all; index++) {
        const place = findPlace(layout, index)
        if (!place) return false
        seen.add(`${place.left} ${place.top}`)
        const middle = layout.cell / 2
        if (findTile(layout, place.left + middle, place.top + middle) !== index) return false
        if (place.left + layout.cell > broad || place.top + layout.cell > layout.height)
          return false
      }
      return seen.size === all && findPlace(layout, all) === null
    }),
    { numRuns: 40 },
  )
  t.end()
})

void t.test('a key leads to an existing tile, or nowhere', (t) => {
  const keys = fc.constantFrom('ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'End', 'a')
  fc.assert(
    fc.property(counts, keys, fc.nat(), (sizes, key, at) => {
      const layout = layoutTiles(sizes, 800, 600)
      const all = sizes.reduce((sum, count) => sum + count, 0)
      const next = nextTile(layout, at % all, key)
      return next === null ? key === 'a' : next >= 0 && next < all
    }),
  )
  t.end()
})

void t.test('tiles are as large as possible, and ten thousand of them scroll', (t) => {
  t.ok(layoutTiles([40], 1000, 600).cell >= 64)
  const many = layoutTiles([10_000], 1000, 600)
  t.equal(many.cell, 8)
  t.ok(layoutTiles([2_000], 1000, 600).height <= 600)
  t.end()
})

void t.test('a faulty cache fills its place; the size of others depends on their requests', (t) => {
  const well = { state: agentStates.Running, problems: [] }
  const ill = { state: agentStates.Down, problems: [problem(3)] }
  const rates = new Map([
    [1, { requests: 100, hitRatio: null }],
    [2, { requests: 25, hitRatio: null }],
  ])
  const tiles = toTiles(
    [
      { ...well, id: 1 },
      { ...well, id: 2 },
      { ...ill, id: 3 },
    ],
    rates,
  )

  t.match(tiles, [{ size: 1, health: 'well' }, { health: 'well' }, { size: 1, health: 'error' }])
  t.ok((tiles[1]?.size ?? 1) < 1)
  t.same(countHealth(tiles), { error: 1, warning: 0, well: 2, still: 0 })
  t.equal(toTiles([{ ...well, id: 1 }], null)[0]?.size, 1, 'without rates, all have one size')
  t.end()
})

void t.test('a cache keeps the tags of its agent, and only actual changes are sent', (t) => {
  const tags = fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 1, max: 6 }), static: fc.boolean(), name: fc.constant('') }),
    { selector: ({ id }) => id },
  )
  const some = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 })
  fc.assert(
    fc.property(tags, some, some, (before, add, remove) => {
      const agent = { tags: before.map((tag) => ({ ...tag, created: '', updated: '' })) }
      const plan = planTags(agent, { add, remove: remove.filter((id) => !add.includes(id)) })
      const after = new Set(plan ? applyTags(agent, plan) : before.map(({ id }) => id))
      return (
        before.every((tag) => !tag.static || after.has(tag.id)) &&
        add.every((id) => after.has(id)) &&
        (plan !== null || before.length === after.size)
      )
    }),
  )
  t.end()
})

void t.test('a line ranges from zero to its maximum, and breaks where no value exists', (t) => {
  const frame = { from: 0, to: 300, width: 30, height: 10 }
  const at = (time: number, value: number) => ({ time, value })

  t.equal(drawLine([at(0, 0), at(10, 5), at(20, 10)], frame), 'M0.0 10.0L1.0 5.0L2.0 0.0')
  t.equal(drawLine([at(0, 1), at(300, 1)], frame), 'M0.0 0.0M30.0 0.0')
  t.equal(drawLine([at(-5, 1), at(301, 1)], frame), '')
  t.equal(drawLine([at(0, 0), at(10, 0)], frame), 'M0.0 10.0L1.0 10.0')
  t.end()
})

function holding(desired: number, effective: number, result = 'applied'): Judged {
  return {
    state: 1,
    engineState: 'running',
    config: {
      desired: { revision: desired },
      lastAttempted: { revision: desired, result, error: null, at: null },
      effective: { revision: effective },
      difference: null,
    },
    drift: null,
  }
}

void t.test('a current fault of a configuration outweighs a repaired one', (t) => {
  const at = '2026-01-01T00:00:00.000Z'
  const drift = { at, foreign: ['<b>theirs</b>'], action: '', healedAt: null }

  t.equal(judgeConfig(holding(2, 2)).word, 'In sync')
  t.equal(judgeConfig(holding(2, 1)).word, 'Applying')
  t.equal(judgeConfig({ ...holding(2, 1, 'failed'), drift }).word, 'Failed')
  t.match(judgeConfig({ ...holding(2, 2), drift }), { word: 'Drifted', why: '<b>theirs</b>' })
  t.equal(judgeConfig({ ...holding(2, 2), drift: { ...drift, healedAt: at } }).word, 'Healed')
  t.equal(judgeConfig({ ...holding(2, 2), state: 3 }).word, 'Not reported')
  t.equal(judgeConfig({ ...holding(2, 2), engineState: 'unreachable' }).word, 'Not reported')
  t.equal(judgeConfig({ ...holding(2, 1), state: 5 }).word, 'Waiting')
  t.ok(rankConfig(holding(2, 1, 'failed')) < rankConfig(holding(2, 2)))
  t.end()
})

void t.test('the count of a filter’s value equals the number of caches that it shows', (t) => {
  const agents = fc.array(
    fc.record({
      name: fc.string(),
      stateName: fc.constant('Running'),
      engineHost: fc.string(),
      engineVersion: fc.constantFrom('6.0.13', '9.0.0'),
      held: fc.constantFrom(holding(2, 2), holding(2, 1), holding(2, 1, 'failed')),
      tags: fc.uniqueArray(fc.constantFrom('eu', 'us', '<i>'), { maxLength: 3 }),
    }),
  )
  const none = { text: '', state: '', tag: '', config: '', version: '' }
  fc.assert(
    fc.property(agents, (all) => {
      const caches = all.map(({ tags, held, ...rest }) => ({
        ...rest,
        ...held,
        tags: tags.map((name) => ({ id: 1, name, static: true })),
      }))
      return (['tag', 'config', 'version'] as const).every((facet) =>
        countWords(caches, facets[facet]).every(
          ({ word, count }) => filterAgents(caches, { ...none, [facet]: word }).length === count,
        ),
      )
    }),
  )
  t.end()
})

void t.test('a long name is split before its last word, and no part is lost', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '-', '.', '😀'), maxLength: 60 }),
      (name) => {
        const { start, end } = splitName(name)
        return start + end === name && (name === '' || start !== '')
      },
    ),
  )
  t.same(splitName('frankfurt-edge-cache-sim-00001'), {
    start: 'frankfurt-edge-cache-sim',
    end: '-00001',
  })
  t.equal(splitName('edge-sim-00001').end, '')
  t.end()
})

void t.test('the address holds the order of the list; by default, the worst are first', (t) => {
  const titles = ['Name', 'Hit ratio']
  for (const title of titles)
    for (const isDescending of [true, false]) {
      const sorting = { title, isDescending }
      t.same(readSorting(formatSorting(sorting), titles), sorting)
    }
  t.equal(formatSorting({ title: 'State', isDescending: false }), '')
  t.same(readSorting('-<b>', titles), { title: 'State', isDescending: false })
  t.end()
})

void t.test('a cache without lookups has no hit ratio', (t) => {
  const of = (...values: readonly (number | null)[]) =>
    toRates({ counters: [], agents: [{ id: 1, time: 0, values }] }).get(1)
  t.same(of(8, 3, 1), { requests: 8, hitRatio: 0.75 })
  t.same(of(0, 0, 0), { requests: 0, hitRatio: null })
  t.same(of(8, null, 1), { requests: 8, hitRatio: null })
  t.end()
})
