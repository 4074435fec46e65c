/** What is delivered when, how far an entry reaches, and what became of it: the decisions of invalidations. */
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
} from '../../src/domain/delivery-window.js'
import { addExceptions, judgeOpenState, type Exception } from '../../src/domain/invalidation.js'
import { reachOfBan, reachOfPurge } from '../../src/domain/invalidation-reach.js'
import { listResults, summarize } from '../../src/domain/invalidation-results.js'
import { parsePurgeHeaders, parsePurgeMethod } from '../../src/domain/purge-request.js'
import {
  findHolder,
  hostName,
  listHoldingNames,
  parsePurgeUrl,
} from '../../src/domain/purge-url.js'

/** An agent and a coordinator: what is sent, done, lost and recorded, in any order that can be. */
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

void t.test(
  'nothing is skipped or overtaken, and at most a window is ahead of what is recorded',
  (t) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let window: DeliveryWindow = openWindow(0)
        let agent: number[] = []
        let isAgentBroken = false
        let reported = 0
        const done: number[] = []
        for (const { do: what, count } of steps) {
          if (what === 'send') {
            const room = Math.min(count, findRoom(window, Number.POSITIVE_INFINITY))
            const from = Math.max(lastSent(window), reported)
            const positions = Array.from({ length: room }, (_, index) => from + index + 1)
            if (window.isRestart && room > 0) {
              agent = []
              isAgentBroken = false
            }
            if (room > 0) window = noteSent(window, positions)
            if (!isAgentBroken) agent.push(...positions)
          } else if (what === 'work') {
            const turn = agent.splice(0, count)
            done.push(...turn)
            reported = turn.at(-1) ?? reported
          } else if (what === 'record') {
            window = noteRecorded(window, Math.max(window.recorded, reported - count))
          } else if (what === 'fault') {
            agent = []
            isAgentBroken = true
            window = noteFault(window, reported, 0)
          } else {
            // The link is another one: the agent forgets, and the store tells how far it is.
            agent = []
            isAgentBroken = true
            reported = window.recorded
            window = openWindow(window.recorded)
          }
          if (window.inFlight.length > windowEntries) throw new Error('more than a window')
        }
        let newest = 0
        for (const position of done) {
          if (position > newest + 1) throw new Error(`${position} came after ${newest}`)
          newest = Math.max(newest, position)
        }
      }),
      { numRuns: 1000 },
    )
    t.end()
  },
)

void t.test('faults in a row are tried less and less often', (t) => {
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

void t.test('exceptions that are alike share a row, and an agent is in one of them', (t) => {
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

void t.test(
  'an organization reaches its own groups, and all where the root group is its own',
  (t) => {
    const group = (groupId: number, isRoot = false) => ({ groupId, isRoot })
    t.same(reachOfBan(false, []), { groups: null })
    t.same(reachOfBan(true, []), { groups: [] })
    t.same(reachOfBan(true, [group(7), group(3), group(7)]), { groups: [3, 7] })
    t.same(reachOfBan(true, [group(3, true)]), { groups: null })

    const held = [
      { fqdn: '*.example', groupId: 1 },
      { fqdn: 'www.example', groupId: 2 },
    ]
    const hosts = ['www.example', 'a.b.example', 'example']
    t.same(reachOfPurge(hosts, [group(1), group(2)], held), { holders: [2, 1, null] })
    t.same(
      reachOfPurge(hosts, [group(1)], held),
      { holders: [null, 1, null] },
      'another organization’s group answers for www.example, though a wildcard would match',
    )
    t.same(reachOfPurge(hosts, [group(9, true)], []), { holders: [0, 0, 0] })
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

void t.test('a URL is taken as it is sent, its host in lower case', (t) => {
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
    t.throws(() => parsePurgeUrl(url), { kind: 'invalid' }, JSON.stringify(url.slice(0, 40)))
  t.end()
})

void t.test('headers and methods cannot make another request of it', (t) => {
  t.same(parsePurgeHeaders({ 'xkey-purge': 'a b' }), { 'xkey-purge': 'a b' })
  for (const headers of [
    ...[{ Host: 'x' }, { 'X-Cachefleet-Purge': 'x' }, { 'content-length': '1' }, { 'a b': 'x' }],
    ...[{ a: 'x\r\ny: z' }, { a: '\0' }, { '': 'x' }, { a: 'é' }],
  ] as Readonly<Record<string, string>>[])
    t.throws(() => parsePurgeHeaders(headers), { kind: 'invalid' })
  for (const method of ['purge', 'A B', '', 'CONNECT', 'A\r\n'])
    t.throws(() => parsePurgeMethod(method), { kind: 'invalid' })
  t.end()
})

void t.test(
  'an entry waits for agents that are away, and is retried where one has trouble',
  (t) => {
    const agent = (isAway: boolean, hasTrouble = false) => ({ isAway, hasTrouble })
    t.equal(judgeOpenState([agent(true), agent(true)]), 5)
    t.equal(judgeOpenState([agent(true), agent(false)]), 1)
    t.equal(judgeOpenState([agent(true), agent(false, true)]), 4)
    t.equal(judgeOpenState([]), 1)
    t.end()
  },
)

void t.test('n of m follows from cursors and exceptions', (t) => {
  const member = (agentId: number, position: number | null) => ({
    ...{
      agentId,
      position,
      name: `a${agentId}`,
      isAway: false,
      movedAt: position && 50,
      trouble: null,
    },
  })
  const entry = {
    ...{ position: 10, createdAt: 1, outcome: null, finishedAt: null },
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
