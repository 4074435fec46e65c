/** Mass loss of agents, previous revisions that a cache discards, and the target of a rollback. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { agentStates, type AgentState } from '../../../src/resources/agent-state.js'
import {
  findOldestPrevious,
  loadedLimit,
  type AgedPlacement,
} from '../../../src/coordinator/fleet/loaded-limit.js'
import {
  judgeLoss,
  type LossInput,
  type WatchedAgent,
} from '../../../src/coordinator/placement/mass-loss.js'
import { isEarlierVcl, type Release } from '../../../src/coordinator/fleet/vcl-group.js'

const heartbeatMs = 5_000
const now = 1_000_000
const { Running, Down } = agentStates

function agent(id: number, state: AgentState = Running, lastStateChangeAt = 0): WatchedAgent {
  return { id, state, lastStateChangeAt }
}

function judge(agents: readonly WatchedAgent[], changes: Partial<LossInput> = {}) {
  const { lost, settling, againAt } = judgeLoss({
    agents,
    overdue: 0,
    now,
    heartbeatMs,
    graceUntil: 0,
    ...changes,
  })
  return { lost: sorted(lost), settling: sorted(settling), againAt }
}

const sorted = (ids: ReadonlySet<number>): number[] => [...ids].toSorted((a, b) => a - b)
const longAgo = now - 10 * heartbeatMs

void t.test('mass loss', async (t) => {
  await t.test('the loss of half of the fleet is not a mass loss', (t) => {
    const down = [1, 2, 3].map((id) => agent(id, Down, longAgo))
    t.same(judge([...down, ...[4, 5, 6].map((id) => agent(id))]).lost, [])
    t.end()
  })
  await t.test('the loss of over half within three heartbeats is one and lists all lost', (t) => {
    const down = [0, 1, 2, 3].map((n) => agent(n + 1, Down, longAgo + n * heartbeatMs))
    const there = [5, 6].map((id) => agent(id))
    t.same(judge([...down, ...there]).lost, [1, 2, 3, 4])
    const [first, ...later] = down
    const earlier = { ...agent(1), ...first, lastStateChangeAt: longAgo - 1 }
    t.same(judge([earlier, ...later, ...there]).lost, [], 'losses further apart are none')
    t.end()
  })
  await t.test('a fleet of four has no mass loss, a fleet of five has', (t) => {
    const down = [1, 2, 3].map((id) => agent(id, Down, longAgo))
    t.same(judge([...down, agent(4)]).lost, [])
    t.same(judge([...down, agent(4), agent(5)]).lost, [1, 2, 3])
    t.end()
  })
  await t.test('overdue agents count, but only Down agents are listed', (t) => {
    const justNow = now - heartbeatMs
    const agents = [agent(1, Down, justNow), agent(2, Down, justNow), agent(3), agent(4), agent(5)]
    t.same(judge(agents).lost, [])
    t.same(judge(agents, { overdue: 1 }).lost, [1, 2])
    const before = agents.slice(0, 2).map(({ id }) => agent(id, Down, longAgo))
    const later = judge([...before, ...agents.slice(2)], { overdue: 1 })
    t.same(later.lost, [], 'an old loss does not count')
    t.end()
  })
})

void t.test('no placement is moved', async (t) => {
  await t.test('for one heartbeat after an agent went Down; then it is checked again', (t) => {
    const at = now - 2_000
    t.match(judge([agent(1, Down, at), agent(2)]), { settling: [1], againAt: at + heartbeatMs })
    t.match(judge([agent(1, Down, at), agent(2)], { now: at + heartbeatMs }), {
      settling: [],
      againAt: null,
    })
    t.end()
  })
  await t.test('while a coordinator waits for agents to reconnect', (t) => {
    const graceUntil = now + 1
    t.match(judge([agent(1, Down, longAgo)], { graceUntil }), {
      settling: [1],
      againAt: graceUntil,
    })
    t.end()
  })
})

const anyFleet = fc.array(
  fc.record({
    isDown: fc.boolean(),
    at: fc.integer({ min: now - 8 * heartbeatMs, max: now }),
    isOverdue: fc.boolean(),
  }),
  { maxLength: 14 },
)

await t.test('the loss follows the rule for any fleet', (t) => {
  fc.assert(
    fc.property(anyFleet, (given) => {
      const agents = given.map(({ isDown, at }, id) => agent(id, isDown ? Down : Running, at))
      const overdue = given.filter(({ isDown, isOverdue }) => !isDown && isOverdue).length
      const { lost } = judge(agents, { overdue })
      // The rule as it is worded, without optimizations.
      const expected = agents.filter(
        ({ state, lastStateChangeAt: at }) =>
          state === Down &&
          agents.length >= 5 &&
          agents.some(({ state: other, lastStateChangeAt: from }) => {
            if (other !== Down || at < from || at > from + 3 * heartbeatMs) return false
            const together = agents.filter(
              (one) =>
                one.state === Down &&
                one.lastStateChangeAt >= from &&
                one.lastStateChangeAt <= from + 3 * heartbeatMs,
            ).length
            return (together + (now <= from + 3 * heartbeatMs ? overdue : 0)) * 2 > agents.length
          }),
      )
      assert.deepEqual(
        lost,
        expected.map(({ id }) => id),
      )
    }),
  )
  t.end()
})

const anyPlaces = fc.array(
  fc.record({
    at: fc.option(fc.integer({ min: 0, max: 50 })),
    hasPrevious: fc.boolean(),
    isRollingBack: fc.boolean(),
  }),
  { maxLength: 70 },
)

await t.test('above the VCL limit, no more than needed of the oldest previous ones go', (t) => {
  fc.assert(
    fc.property(anyPlaces, (given) => {
      const places = given.map(({ at, hasPrevious, isRollingBack }, n): AgedPlacement => {
        const program = (what: string) => ({ name: `${what}-${n}`, sha: '', fqdns: null })
        const previous = hasPrevious ? program('previous') : null
        return {
          current: program('current'),
          candidate: isRollingBack ? previous : null,
          previous,
          deployedAt: at,
        }
      })
      const idle = places.filter(({ previous, candidate }) => previous && !candidate)
      const loaded = places.length + places.filter(({ previous }) => previous).length + 1
      const dropped = findOldestPrevious(places, loaded)
      assert.equal(dropped.length, Math.max(0, Math.min(idle.length, loaded - loadedLimit)))
      assert.ok(dropped.every((place) => idle.includes(place)))
      const youngest = Math.max(-1, ...dropped.map(({ deployedAt }) => deployedAt ?? 0))
      const kept = idle.filter((place) => !dropped.includes(place))
      assert.ok(kept.every(({ deployedAt }) => (deployedAt ?? 0) >= youngest))
    }),
  )
  t.end()
})

function sourcesOf(sha: string, load = 1): Release {
  const mainVCL = { id: 1, version: load, name: 'main.vcl' }
  const programName = `cf-1-${sha}-${load}`
  return {
    mainVCL,
    includes: [],
    releases: null,
    sha,
    programName,
    deploymentIds: [load],
    domains: [],
  }
}

function chooseEarlier<Revision extends { readonly sources: Release }>(
  newestFirst: readonly Revision[],
  deployed: Release | null,
): Revision | undefined {
  return newestFirst.find((revision) => isEarlierVcl(revision, deployed))
}

type Verb = { readonly deploy: string } | 'reload' | 'rollback'

const verb: fc.Arbitrary<Verb> = fc.oneof(
  fc.record({ deploy: fc.constantFrom('a', 'b', 'c') }),
  fc.constantFrom('reload' as const, 'rollback' as const),
)

void t.test('a rollback without a revision', async (t) => {
  await t.test('goes to the newest revision with other sources, after any verbs', (t) => {
    fc.assert(
      fc.property(fc.array(verb, { minLength: 1, maxLength: 30 }), (verbs) => {
        // Each entry makes a revision, also one that repeats the deployed sources, as in earlier coordinators.
        const texts: string[] = []
        for (const [index, one] of verbs.entries()) {
          const now = texts.at(-1)
          const history = texts.map((sha, at) => ({ sources: sourcesOf(sha, at) })).toReversed()
          const target = chooseEarlier(history, now === undefined ? null : sourcesOf(now, index))
          assert.equal(
            target?.sources.sha,
            texts.findLast((text) => text !== now),
          )
          if (one === 'reload') texts.push(...texts.slice(-1))
          else if (one !== 'rollback') texts.push(one.deploy)
          else if (target) {
            texts.push(target.sources.sha)
            const back = texts.map((sha, at) => ({ sources: sourcesOf(sha, at) })).toReversed()
            const again = chooseEarlier(back, sourcesOf(target.sources.sha))
            assert.equal(again?.sources.sha, now, 'the next rollback goes back')
          }
        }
      }),
    )
    t.end()
  })
  await t.test('treats other domains as other sources', (t) => {
    const before = { ...sourcesOf('a'), domains: [{ id: 1, fqdn: 'old.example' }] }
    const now = { ...before, domains: [{ id: 1, fqdn: 'new.example' }] }
    t.equal(chooseEarlier([{ sources: now }, { sources: before }], now)?.sources, before)
    t.equal(chooseEarlier([{ sources: now }], now), undefined)
    t.end()
  })
  await t.test('of an undeployed group goes to the revision it served last', (t) => {
    const [last, before] = [{ sources: sourcesOf('b') }, { sources: sourcesOf('a') }]
    t.equal(chooseEarlier([last, before], null), last)
    t.end()
  })
})
