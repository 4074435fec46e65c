/** Policies, waves and gates: what is valid, the order of agents, and when a gate fails. */
import fc from 'fast-check'
import t from 'tap'
import { divideIntoWaves } from '../../../src/coordinator/rollouts/divide-waves.js'
import {
  judgeGates,
  judgeTogether,
  type ObservedAgent,
} from '../../../src/coordinator/rollouts/judge-gates.js'
import { describeGate } from '../../../src/coordinator/rollouts/judged-gate.js'
import type { Seconds } from '../../../src/coordinator/rollouts/observed-seconds.js'
import { completePolicy } from '../../../src/coordinator/rollouts/policy.js'
import type { GateRule, GivenPolicy } from '../../../src/resources/rollout.js'
import { finish } from './finish-steps.js'

const root = { errorKey: 'deploy', fqdns: [] } as const

void t.test('every agent is in one wave, totals are kept, and no wave is empty', (t) => {
  const property = fc.property(
    fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 }),
    fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 }),
    fc.boolean(),
    fc.nat({ max: 100 }),
    (ids, totals, isShare, newFrom) => {
      const sorted = totals.toSorted((a, b) => a - b)
      const rules = sorted.map((total) => (isShare ? { percent: total } : { count: total }))
      const agents = ids.map((id) => ({ id, tagIds: [], isNew: id <= newFrom }))
      const waves = divideIntoWaves(rules, 7, agents)

      const all = waves.flatMap(({ agentIds }) => agentIds)
      if (all.toSorted().join() !== ids.toSorted().join()) throw new Error('lost or twice')
      if (waves.some(({ agentIds }) => agentIds.length === 0)) throw new Error('empty')
      const placed = agents.filter(({ isNew }) => !isNew).length
      const limits = sorted.map((total) =>
        isShare ? Math.ceil((placed * total) / 100) : Math.min(total, placed),
      )
      let begun = 0
      for (const { agentIds } of waves.slice(0, -1)) {
        begun += agentIds.length
        if (!limits.includes(begun)) throw new Error(`${begun} of ${limits.join()}`)
        if (agentIds.some((id) => id <= newFrom)) throw new Error('a new one before the last wave')
      }
      const again = divideIntoWaves(rules, 7, agents.toReversed())
      if (JSON.stringify(again) !== JSON.stringify(waves)) throw new Error('another order')
    },
  )

  fc.assert(property, { numRuns: 500 })
  t.end()
})

void t.test('tags select agents that have all of them; named agents are waited for', (t) => {
  const agents = [1, 2, 3, 4].map((id) => ({ id, tagIds: id < 3 ? [5, 6] : [5], isNew: false }))
  const waves = divideIntoWaves(
    [{ agents: [{ id: 4 }] }, { tags: [{ id: 5 }, { id: 6 }] }],
    7,
    agents,
  )
  t.same(
    waves.map(({ agentIds, holds }) => [[...agentIds].toSorted(), holds]),
    [
      [[4], true],
      [[1, 2], false],
      [[3], false],
    ],
  )
  t.end()
})

void t.test('a policy is completed with defaults; an error names the wrong key', (t) => {
  t.match(completePolicy({ waves: [{ count: 1 }] }, root), {
    bake: 60,
    maxBake: 60,
    onFailure: 'rollback',
    onInconclusive: 'continue',
    gates: [{ name: 'errors', max: 0.01 }, { name: 'backendFailures' }, { name: 'restarts' }],
  })
  const wrong: readonly (readonly [Partial<GivenPolicy>, RegExp])[] = [
    [{ waves: [{ count: 2 }, { count: 2 }] }, /waves\[1\]\.count is 2.*more than 2/],
    [{ waves: [{ percent: 50 }, { percent: 10 }] }, /waves\[1\]\.percent is 10/],
    [{ waves: [{ count: 1, percent: 1 }] }, /waves\[0\] has 2 keys/],
    [{ bake: 10, maxBake: 5 }, /maxBake is 5; it must be at least bake, which is 10/],
    [{ gates: [{ name: 'errors', max: 0.1, factor: 2 }] }, /gates\[0\]: max and factor/],
    [{ gates: [{ name: 'errors', drop: 0.1 }] }, /drop does not apply to errors/],
    [{ gates: [{ name: 'errors', max: 5 }] }, /max is 5; it must be from 0 to 1/],
    [{ gates: [{ name: 'probe', path: 'x' }] }, /path must begin with a slash/],
  ]
  for (const [given, message] of wrong)
    t.throws(() => completePolicy({ waves: [{ count: 1 }], ...given }, root), { message })
  const other = { name: 'probe', path: '/', host: 'other.example' } as const
  t.throws(
    () =>
      completePolicy(
        { waves: [{ count: 1 }], gates: [other] },
        { errorKey: 'deploy', fqdns: ['*.site.example'] },
      ),
    { message: /a name that the group answers for/ },
  )
  t.end()
})

/** Returns `count` seconds with so many requests each. */
function seconds(count: number, requests: number, of: Partial<Figures> = {}): Seconds[] {
  const { errors = 0, hits = requests, ms = 1 } = of
  const firstByte = Array.from({ length: 14 }, (_, at) => (at === ms ? requests : 0))
  const figures = { requests, errors, hits, misses: requests - hits, firstByte }
  const backend = { backendRequests: 0, backendFailures: of.failures ?? 0, restarts: 0 }
  return Array.from({ length: count }, () => ({ seconds: 1, figures, ...backend }))
}

interface Figures {
  readonly errors: number
  readonly hits: number
  /** Its index among the bounds. */
  readonly ms: number
  readonly failures: number
}

function agent(since: Seconds[], more: Partial<ObservedAgent> = {}): ObservedAgent {
  const nothing = { before: [], healthyBackends: null, probes: [], isThere: true }
  return { agentId: 1, name: 'edge-1', since, ...nothing, ...more }
}

function judge(gate: GateRule, switched: ObservedAgent[], control: Seconds[] = []) {
  const { gates } = completePolicy({ waves: [{ count: 1 }], gates: [gate] }, root)
  return judgeTogether(finish(judgeGates(gates.slice(0, 1), { switched, control, webhooks: [] })))
}

void t.test('a gate fails once it was outside its limit for long enough', (t) => {
  const gate = { name: 'errors', max: 0.05, for: 10 } as const
  const bad = seconds(1, 50, { errors: 5 })[0]
  const course = (count: number) => [
    ...seconds(20, 50),
    ...Array.from({ length: count }, () => bad).filter((one) => one !== undefined),
  ]
  t.equal(judge(gate, [agent(course(0))]).verdict, 'pass')
  t.equal(judge(gate, [agent(course(2))]).verdict, 'pass', 'a moment is not enough')
  t.match(judge(gate, [agent(course(10))]), {
    verdict: 'fail',
    why: /^errors on all: 0\.1, limit 0\.05$/,
  })
  t.equal(judge(gate, [agent(course(10), { isThere: false })]).verdict, 'inconclusive')
  const both = [agent(course(10)), agent(seconds(40, 5000), { agentId: 2, name: 'edge-2' })]
  t.match(judge(gate, both), { verdict: 'fail', why: /^errors on edge-1/ })
  t.end()
})

void t.test('a few errors over the limit, within chance, do not fail a gate', (t) => {
  const seen = (errors: number) => [...seconds(10, 10), ...seconds(1, 100, { errors })]
  const gate = { name: 'errors', max: 0.01, for: 1 } as const
  t.match(judge(gate, [agent(seen(2))]), { verdict: 'inconclusive', why: /no more than chance/ })
  t.equal(judge(gate, [agent(seen(1))]).verdict, 'pass')
  t.equal(judge(gate, [agent(seen(10))]).verdict, 'fail')
  t.end()
})

void t.test('few requests, no log and no comparison are inconclusive', (t) => {
  const few = judge({ name: 'errors' }, [agent(seconds(10, 1))])
  t.match(few, { verdict: 'inconclusive', why: /10 of 100 requests/ })
  const blind = seconds(20, 50).map((one) => ({ ...one, figures: null }))
  t.match(judge({ name: 'errors' }, [agent(blind)]), { verdict: 'inconclusive', why: /the log/ })
  const alone = judge({ name: 'errors', factor: 2 }, [agent(seconds(20, 50))])
  t.match(alone, { verdict: 'inconclusive', why: /nothing to compare/ })
  t.end()
})

void t.test('of baseline and control, all that exist must be exceeded', (t) => {
  const gate = { name: 'errors', factor: 2 } as const
  const seen = seconds(20, 100, { errors: 5 })
  const [calm, ill] = [seconds(20, 100, { errors: 1 }), seconds(20, 100, { errors: 4 })]
  t.equal(judge(gate, [agent(seen, { before: calm })]).verdict, 'fail')
  t.equal(judge(gate, [agent(seen, { before: calm })], ill).verdict, 'pass', 'control has it too')
  t.equal(judge(gate, [agent(seen, { before: calm })], calm).verdict, 'fail')
  const slight = seconds(20, 10_000, { errors: 8 })
  t.equal(judge(gate, [agent(slight, { before: seconds(20, 10_000) })]).verdict, 'pass', 'a floor')

  const drop = { name: 'hitRatio' } as const
  const worse = seconds(20, 100, { hits: 40 })
  t.equal(judge(drop, [agent(worse, { before: seconds(20, 100, { hits: 90 }) })]).verdict, 'fail')
  t.equal(judge(drop, [agent(worse, { before: seconds(20, 100, { hits: 45 }) })]).verdict, 'pass')

  const slow = seconds(20, 100, { ms: 8 })
  t.equal(judge({ name: 'firstByte', maxMs: 50 }, [agent(slow)]).verdict, 'fail')
  t.equal(
    judge({ name: 'firstByte' }, [agent(slow, { before: seconds(20, 100, { ms: 8 }) })]).verdict,
    'pass',
  )
  t.end()
})

void t.test('a restart of the child fails at once; too few healthy backends fail', (t) => {
  const died = [{ ...seconds(1, 0)[0], restarts: 1 } as Seconds]
  t.match(judge({ name: 'restarts' }, [agent(died)]), {
    verdict: 'fail',
    why: 'restarts on all: 1, limit 0',
  })
  const healthy = (healthyBackends: number | null) =>
    judge({ name: 'backendsHealthy', min: 2 }, [agent([], { healthyBackends })]).verdict
  t.same([healthy(1), healthy(2), healthy(null)], ['fail', 'pass', 'inconclusive'])
  const seen = { switched: [agent(died)], control: [], webhooks: [] }
  const rows = finish(judgeGates([{ name: 'restarts' }], seen))
  t.match(rows.map(describeGate), ['restarts on all: 1, limit 0', 'restarts on edge-1: 1, limit 0'])
  t.end()
})

void t.test('a thousand agents are judged in many short steps', (t) => {
  const switched = Array.from({ length: 1000 }, (_, at) =>
    agent(seconds(20, 50), { agentId: at, name: `edge-${at}` }),
  )
  const gates = completePolicy({ waves: [{ count: 1 }] }, root).gates
  const steps = judgeGates(gates, { switched, control: seconds(60, 50), webhooks: [] })
  let count = 0
  while (steps.next().done !== true) count += 1
  t.ok(count >= 4 * 9, `${count} steps`)
  t.end()
})
