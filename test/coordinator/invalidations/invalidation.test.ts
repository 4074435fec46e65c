/** The decisions of invalidations: what is delivered when, what an entry covers, and its result. */
import fc from 'fast-check'
import t from 'tap'
import {
  findRoom,
  lastSent,
  noteFault,
  noteRecorded,
  noteSent,
  openWindow,
  windowEntries,
  type DeliveryWindow,
} from '../../../src/coordinator/gateway/delivery-window.js'
import {
  addExceptions,
  judgeOpenState,
  type Exception,
} from '../../../src/coordinator/invalidations/invalidation.js'
import {
  banCoverage,
  purgeCoverage,
  memberCoverage,
} from '../../../src/coordinator/invalidations/invalidation-coverage.js'
import {
  listResults,
  sortBySlowness,
  summarize,
  summarizeShared,
} from '../../../src/coordinator/invalidations/invalidation-results.js'
import {
  parsePurgeHeaders,
  parsePurgeMethod,
  findHolder,
  hostName,
  listHoldingNames,
  parsePurgeUrl,
} from '../../../src/coordinator/invalidations/purge-url.js'

/** An agent and a coordinator: entries sent, done, lost and recorded, in any possible order. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), count: fc.nat({ max: 80 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('work' as const), count: fc.nat({ max: 40 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('record' as const), count: fc.nat({ max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('fault' as const, 'relink' as const),
      count: fc.constant(0),
    }),
  },
)

/** The state of a coordinator, an agent and the store between them. */
interface World {
  window: DeliveryWindow
  /** Entries received and not yet done; null: the agent accepts none before the next restart. */
  queue: number[] | null
  reported: number
  readonly done: number[]
}

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

const play: Readonly<Record<Step['do'], (world: World, count: number) => void>> = {
  send: (world, count) => {
    const room = Math.min(count, findRoom(world.window, Number.POSITIVE_INFINITY))
    if (room <= 0) return
    const from = Math.max(lastSent(world.window), world.reported)
    const positions = Array.from({ length: room }, (_, index) => from + index + 1)
    if (world.window.isRestart) world.queue = []
    world.queue?.push(...positions)
    world.window = noteSent(world.window, positions)
  },
  work: (world, count) => {
    const turn = world.queue?.splice(0, count) ?? []
    world.done.push(...turn)
    world.reported = turn.at(-1) ?? world.reported
  },
  record: (world, count) => {
    const { recorded } = world.window
    world.window = noteRecorded(world.window, Math.max(recorded, world.reported - count))
  },
  fault: (world) => {
    world.queue = null
    world.window = noteFault(world.window, world.reported, 0)
  },
  // A new link: the agent’s queue is lost, and the store gives the position reached.
  relink: (world) => {
    world.queue = null
    world.reported = world.window.recorded
    world.window = openWindow(world.window.recorded)
  },
}

void t.test('no entry is skipped or overtaken; at most a window is unrecorded', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world: World = { window: openWindow(0), queue: null, reported: 0, done: [] }
      for (const { do: what, count } of steps) {
        play[what](world, count)
        if (world.window.inFlight.length > windowEntries) throw new Error('more than a window')
      }
      let newest = 0
      for (const position of world.done) {
        if (position > newest + 1) throw new Error(`${position} came after ${newest}`)
        newest = Math.max(newest, position)
      }
    }),
    { numRuns: 1000 },
  )
  t.end()
})

void t.test('consecutive faults are retried at growing intervals', (t) => {
  let window = noteSent(openWindow(0), [1, 2])
  const pauses = Array.from({ length: 9 }, () => {
    window = noteFault(window, 0, 0)
    return window.notBeforeMs
  })
  t.same(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  t.equal(findRoom(window, 29_999), 0)
  t.ok(findRoom(window, 30_000) > 0)
  t.equal(noteRecorded(window, 1).faults, 0)
  t.end()
})

void t.test('equal exceptions share a row, and an agent is in only one of them', (t) => {
  const exception = fc.record({
    state: fc.constantFrom('failed' as const, 'expired' as const, 'done' as const),
    error: fc.constantFrom(null, 'a', 'b'),
    at: fc.nat(),
    agents: fc.uniqueArray(fc.integer({ min: 1, max: 5 })),
  })
  fc.assert(
    fc.property(fc.array(exception), (added) => {
      const list = added.reduce<readonly Exception[]>((all, one) => addExceptions(all, [one]), [])
      const agents = list.flatMap((one) => one.agents)
      const keys = list.map(({ state, error }) => `${state} ${error ?? ''}`)
      if (new Set(agents).size !== agents.length || new Set(keys).size !== keys.length)
        throw new Error(JSON.stringify(list))
      const wanted = new Set(added.flatMap((one) => one.agents))
      if (agents.length !== wanted.size) throw new Error('an agent is missing')
    }),
  )
  t.end()
})

void t.test('a group covers all of a cache that it has alone', (t) => {
  const groupIds = fc.array(fc.integer({ min: 1, max: 3 }))
  fc.assert(
    fc.property(groupIds, (ids) => {
      const placed = ids.map((groupId) => ({ groupId, isRoot: true }))
      const isAlone = ids.every((id) => id === 1)
      t.same(memberCoverage(1, placed), { groups: isAlone ? null : [] })
    }),
  )
  t.end()
})

void t.test(
  'an organization covers its own groups, and everything where the root group is its own',
  (t) => {
    const group = (groupId: number, isRoot = false) => ({ groupId, isRoot })
    t.same(banCoverage(false, []), { groups: null })
    t.same(banCoverage(true, []), { groups: [] })
    t.same(banCoverage(true, [group(7), group(3), group(7)]), { groups: [3, 7] })
    t.same(banCoverage(true, [group(3, true)]), { groups: null })

    const held = [
      { fqdn: '*.example', groupId: 1 },
      { fqdn: 'www.example', groupId: 2 },
    ]
    const hosts = ['www.example', 'a.b.example', 'example']
    t.same(purgeCoverage(hosts, [group(1), group(2)], held), { holders: [2, 1, null] })
    t.same(
      purgeCoverage(hosts, [group(1)], held),
      { holders: [null, 1, null] },
      'another organization’s group holds www.example, though a wildcard would match',
    )
    t.same(purgeCoverage(hosts, [group(9, true)], []), { holders: [0, 0, 0] })
    t.end()
  },
)

void t.test('a host is held by an exact name, else by the longest wildcard', (t) => {
  const label = fc.constantFrom('a', 'b', 'c')
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
  const fqdn = fc.oneof(
    name,
    name.map((one) => `*.${one}`),
  )
  fc.assert(
    fc.property(name, fc.uniqueArray(fqdn), (host, names) => {
      const held = names.map((one, groupId) => ({ fqdn: one, groupId }))
      const holder = findHolder(host, held)
      const candidates = listHoldingNames(host).filter((one) => names.includes(one))
      const best = candidates.toSorted((a, b) =>
        a === host ? -1 : b === host ? 1 : b.length - a.length,
      )[0]
      t.equal(holder, best === undefined ? null : names.indexOf(best))
    }),
    { numRuns: 200 },
  )
  t.end()
})

void t.test('a URL is taken as sent, with its host in lower case', (t) => {
  t.same(parsePurgeUrl('HTTPS://Shop.Example:8443/A%20b?x=1&Y'), {
    host: 'shop.example:8443',
    path: '/A%20b?x=1&Y',
  })
  t.same(parsePurgeUrl('http://a.example'), { host: 'a.example', path: '/' })
  t.same(parsePurgeUrl('http://a.example?q'), { host: 'a.example', path: '/?q' })
  t.equal(hostName({ host: 'a.example.:80' }), 'a.example')
  for (const url of [
    ...['', '/a', 'a.example/b', 'ftp://a.example/', 'http:///a', 'http://', 'http://a b/'],
    ...[
      'http://a.example/#b',
      'http://a.example/\r\nX: y',
      'http://ä.example/',
      'http://u@a.example/',
    ],
    ...['http://a.example/ b', `http://a.example/${'a'.repeat(5000)}`, 'http://a.example:x/'],
  ])
    t.throws(() => parsePurgeUrl(url), { name: 'FleetError' }, JSON.stringify(url.slice(0, 40)))
  t.end()
})

void t.test('headers and methods cannot change the request', (t) => {
  t.same(parsePurgeHeaders({ 'xkey-purge': 'a b' }), { 'xkey-purge': 'a b' })
  for (const headers of [
    ...[{ Host: 'x' }, { 'X-Cachefleet-Purge': 'x' }, { 'content-length': '1' }, { 'a b': 'x' }],
    ...[{ a: 'x\r\ny: z' }, { a: '\0' }, { '': 'x' }, { a: 'é' }],
  ] as Readonly<Record<string, string>>[])
    t.throws(() => parsePurgeHeaders(headers), { name: 'FleetError' })
  for (const method of ['purge', 'A B', '', 'CONNECT', 'A\r\n'])
    t.throws(() => parsePurgeMethod(method), { name: 'FleetError' })
  t.end()
})

void t.test('an entry waits for absent agents and is retried where an agent has trouble', (t) => {
  const agent = (isAway: boolean, hasTrouble = false) => ({ isAway, hasTrouble })
  t.equal(judgeOpenState([agent(true), agent(true)]), 5)
  t.equal(judgeOpenState([agent(true), agent(false)]), 1)
  t.equal(judgeOpenState([agent(true), agent(false, true)]), 4)
  t.equal(judgeOpenState([]), 1)
  t.end()
})

void t.test('done and total follow from cursors and exceptions', (t) => {
  const member = (agentId: number, position: number | null) => ({
    agentId,
    position,
    name: `a${agentId}`,
    isAway: false,
    movedAt: position && 50,
    trouble: null,
  })
  const entry = {
    position: 10,
    createdAt: 1,
    outcome: null,
    finishedAt: null,
    exceptions: [{ state: 'failed', error: 'no', at: 5, agents: [2] }] as const,
  }
  const members = [member(1, 10), member(2, 12), member(3, 9), member(4, null), member(5, null)]
  const results = listResults(entry, members, new Set([1, 2, 3, 4]))
  t.match(results, [
    { state: 'done', at: 50 },
    { state: 'failed', error: 'no', at: 5 },
    { state: 'pending', at: null },
    { state: 'pending' },
    { state: 'done', at: 1 },
  ])
  t.same(summarize(entry, members, results), { state: 1, done: 2, total: 5 })
  t.end()
})

void t.test('the counts of a list equal those of a single entry', (t) => {
  const position = fc.option(fc.integer({ min: 1, max: 6 }))
  const members = fc.array(
    fc.record({ position, isAway: fc.boolean(), trouble: fc.constantFrom(null, 'no') }),
    { maxLength: 8 },
  )
  const outcome = fc.constantFrom(null, 2 as const, 3 as const, 6 as const)
  const state = fc.constantFrom('failed' as const, 'done' as const)
  const exception = fc.record({ state, agents: fc.uniqueArray(fc.integer({ min: 0, max: 9 })) })
  fc.assert(
    fc.property(
      members,
      outcome,
      exception,
      fc.nat({ max: 8 }),
      (given, outcome, except, count) => {
        const all = given.map((member, agentId) => ({ ...member, agentId, name: 'a', movedAt: 1 }))
        const attempted = all.slice(0, count)
        const exceptions = [{ ...except, error: null, at: 1 }]
        const entry = { position: 4, createdAt: 1, outcome, finishedAt: null, exceptions }
        const ids = new Set(attempted.map(({ agentId }) => agentId))
        t.strictSame(
          summarizeShared(entry, {
            memberIds: new Set(all.map(({ agentId }) => agentId)),
            slowestFirst: sortBySlowness(attempted),
          }),
          summarize(entry, all, listResults(entry, all, ids)),
        )
      },
    ),
  )
  t.end()
})
