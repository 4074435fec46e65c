/** How a report changes an agent and its placements, case by case: the rules that deploys rely on. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import fc from 'fast-check'
import {
  judgeReport,
  type ReportedAgent,
  type ReportedApply,
} from '../../../src/coordinator/reports/report-outcome.js'
import { composeNextRouting, composeRouting } from '../../../src/vcl/desired-engine.js'
import { findSkew } from '../../../src/resources/version-skew.js'
import type { PlacementRecord } from '../../../src/coordinator/fleet/placement-queries.js'

const now = 5000
const oldProgram = { name: 'cf-1-old', sha: 'a'.repeat(64), fqdns: null }
const newProgram = { name: 'cf-1-new', sha: 'b'.repeat(64), fqdns: null }

const served: PlacementRecord = {
  groupId: 1,
  agentId: 7,
  organizationId: null,
  deploymentId: 1,
  position: 0,
  state: 'applied',
  wantedRevision: 3,
  appliedRevision: 3,
  current: oldProgram,
  candidate: null,
  candidateState: null,
  previous: null,
  error: null,
  deployedAt: 1000,
  keptDown: false,
  stage: false,
  leaving: false,
  replacedBy: null,
}
const loading: PlacementRecord = { ...served, candidate: newProgram, candidateState: 'pending' }
const switching: PlacementRecord = {
  ...served,
  state: 'applying',
  wantedRevision: 4,
  current: newProgram,
  previous: oldProgram,
}

const report: ReportedApply = {
  revision: 10,
  result: 'applied',
  error: null,
  loaded: [oldProgram.name, newProgram.name],
  failures: [],
  changed: true,
}
const compileError: ReportedApply = {
  ...report,
  result: 'failed',
  loaded: [oldProgram.name],
  failures: [{ program: newProgram.name, error: 'line 7 pos 2' }],
}

/** Two groups with domains on one agent; the tests are about the candidate of the second. */
const first = { name: 'cf-1-first', sha: 'c'.repeat(64), fqdns: ['a.example'] }
const second = { name: 'cf-2-second', sha: 'd'.repeat(64), fqdns: ['b.example'] }
const ofFirst: PlacementRecord = { ...served, state: 'applying', current: first }
const ofSecond: PlacementRecord = {
  ...served,
  groupId: 2,
  state: 'wanted',
  current: null,
  appliedRevision: null,
  candidate: second,
  candidateState: 'pending',
}
const routing = composeRouting([ofFirst])?.name ?? ''
const nextRouting = composeNextRouting([ofFirst, ofSecond])?.name ?? ''

function judgeShared(changes: Partial<ReportedApply>): readonly PlacementRecord[] {
  const both = { ...known(ofFirst), placements: [ofFirst, ofSecond] }
  return judgeReport(both, { ...report, ...changes }, now).placements
}

function known(placement: PlacementRecord, changes: Partial<ReportedAgent['agent']> = {}) {
  return {
    agent: {
      id: 7,
      name: 'edge-1',
      desiredRevision: 10,
      attempted: { revision: 9, result: 'applied' as const, error: null, at: 1000 },
      effectiveRevision: 9,
      recordedRevision: 9,
      ...changes,
    },
    placements: [placement],
    desiredPrograms: new Map([[1, newProgram]]),
  }
}

function judge(placement: PlacementRecord, sent: ReportedApply) {
  const judged = judgeReport(known(placement), sent, now)
  const [result] = judged.placements
  return { agent: judged.agent, placement: result }
}

await t.test('phase one', async (t) => {
  await t.test('a loaded candidate is marked loaded, and the current program stays', (t) => {
    const { placement } = judge(loading, report)
    t.same(placement, { ...loading, candidateState: 'loaded' })
    t.end()
  })
  await t.test('a candidate that does not compile fails with the message of the engine', (t) => {
    const { placement, agent } = judge(loading, compileError)
    t.same(placement, { ...loading, candidateState: 'failed', error: 'line 7 pos 2' })
    t.match(agent.attempted, { result: 'failed', error: 'line 7 pos 2', at: now })
    t.equal(agent.effectiveRevision, 9)
    t.end()
  })
  await t.test('a candidate fails with the error of the attempt', (t) => {
    const sent = { ...report, result: 'failed' as const, error: 'no space left', loaded: [] }
    t.match(judge(loading, sent).placement, { candidateState: 'failed', error: 'no space left' })
    t.match(judge(loading, sent).placement, { state: 'applied' })
    t.end()
  })
  await t.test('a lost connection to the cache leaves the candidate unchanged', (t) => {
    const lost = { ...compileError, failures: [], error: 'the connection ended', interrupted: true }
    const { agent, placement } = judge(loading, lost)
    t.match(agent.attempted, { result: 'failed', error: 'the connection ended' })
    t.same(placement, loading)
    t.match(
      judge(loading, { ...lost, failures: compileError.failures }).placement,
      { candidateState: 'failed', error: 'line 7 pos 2' },
      'a compile error reported before the interruption still counts',
    )
    t.same(judge(switching, { ...lost, loaded: [] }).placement, switching)
    t.end()
  })
  await t.test('a refusal leaves the candidate pending, because nothing was tried', (t) => {
    const sent = { ...report, result: 'refused' as const, error: 'it cannot be held', loaded: [] }
    t.same(judge(loading, sent).placement, { ...loading, error: 'it cannot be held' })
    const superseded = judge(loading, { ...sent, revision: 9 })
    t.same(superseded.placement, loading, 'a refusal of an earlier revision is ignored')
    t.end()
  })
  await t.test(
    'a candidate that still loads after other agents switched does not count as applied',
    (t) => {
      const late = { ...loading, state: 'wanted' as const, wantedRevision: 4 }
      t.match(judge(late, report).placement, { candidateState: 'loaded', state: 'wanted' })
      t.end()
    },
  )
})

await t.test('phase two', async (t) => {
  await t.test('a held wanted revision is applied, with the current time as deploy time', (t) => {
    t.match(judge(switching, report).placement, {
      state: 'applied',
      appliedRevision: 4,
      deployedAt: now,
      error: null,
    })
    t.end()
  })
  await t.test('a failed switch keeps the applied revision and records the error', (t) => {
    const sent = { ...report, result: 'failed' as const, error: 'use: child died' }
    t.match(judge(switching, sent).placement, {
      state: 'failed',
      appliedRevision: 3,
      error: 'use: child died',
    })
    t.end()
  })
  await t.test('a failed switch that was healed is applied', (t) => {
    const failed = { ...switching, state: 'failed' as const, error: 'use: child died' }
    t.match(judge(failed, report).placement, { state: 'applied', appliedRevision: 4, error: null })
    t.end()
  })
  await t.test(
    'an agent that kept its old VCL stays failed, however often it reports success',
    (t) => {
      const kept = { ...served, state: 'failed' as const, error: 'line 7 pos 2' }
      t.same(judge(kept, { ...report, loaded: [oldProgram.name] }).placement, kept)
      t.end()
    },
  )
  await t.test('an unchanged cache keeps the recorded times', (t) => {
    const { placement, agent } = judge(served, { ...report, changed: false })
    t.equal(placement?.deployedAt, 1000)
    t.equal(agent.attempted?.at, 1000)
    t.end()
  })
  await t.test('a change in one group keeps the deploy time of another', (t) => {
    t.equal(judge(served, report).placement?.deployedAt, 1000)
    t.end()
  })
})

await t.test('revisions', async (t) => {
  await t.test('a report older than the recorded attempt changes nothing', (t) => {
    const before = known(loading)
    t.equal(judgeReport(before, { ...compileError, revision: 8 }, now), before)
    t.end()
  })
  await t.test('a report of a revision above the desired one changes nothing', (t) => {
    const before = known(loading)
    t.equal(judgeReport(before, { ...report, revision: 11 }, now), before)
    t.end()
  })
  await t.test('a report of the previous revision can mark loaded, but not applied', (t) => {
    const sent = { ...report, revision: 9 }
    t.match(judge(loading, sent).placement, { candidateState: 'loaded' })
    t.same(judge(switching, sent).placement, switching)
    t.end()
  })
})

const placements = fc.record({
  state: fc.constantFrom('wanted', 'applying', 'applied', 'failed'),
  wantedRevision: fc.integer({ min: 1, max: 4 }),
  appliedRevision: fc.option(fc.integer({ min: 1, max: 4 })),
  current: fc.constantFrom(null, oldProgram, newProgram),
  candidate: fc.constantFrom(null, newProgram),
})
const reportArbitrary = fc
  .record({
    revision: fc.integer({ min: 1, max: 12 }),
    result: fc.constantFrom('applied', 'failed', 'refused'),
    error: fc.constantFrom(null, 'a reason'),
    loaded: fc.subarray([oldProgram.name, newProgram.name]),
    fails: fc.boolean(),
    changed: fc.boolean(),
  })
  .map(({ fails, ...sent }): ReportedApply => {
    const isLoaded = sent.loaded.includes(newProgram.name)
    const failures = [{ program: newProgram.name, error: 'does not compile' }]
    return { ...sent, failures: fails && !isLoaded ? failures : [] }
  })

await t.test(
  'a repeated report changes nothing, and no report lowers the attempted revision',
  (t) => {
    fc.assert(
      fc.property(placements, fc.array(reportArbitrary, { maxLength: 6 }), (changes, sent) => {
        const candidateState = changes.candidate === null ? null : 'pending'
        let state: ReportedAgent = known({ ...served, ...changes, candidateState })
        for (const one of sent) {
          const next = judgeReport(state, one, now)
          const again = judgeReport(next, { ...one, changed: false }, now + 1)
          if (!isDeepStrictEqual(again.placements, next.placements)) return false
          if ((next.agent.attempted?.revision ?? 0) < (state.agent.attempted?.revision ?? 0))
            return false
          state = next
        }
        return true
      }),
      { numRuns: 300 },
    )
    t.end()
  },
)

await t.test('versions with equal major and minors at most one apart are compatible', (t) => {
  for (const agent of ['0.1.0', '0.1.9', '0.0.1', '0.2.0-rc.1'])
    t.equal(findSkew('0.1.0', agent), null)
  for (const agent of ['0.3.0', '1.1.0']) t.match(findSkew('0.1.0', agent), agent)
  t.end()
})

void t.test('groups that share an agent are judged separately', (t) => {
  const failed = {
    result: 'failed',
    failures: [{ program: second.name, error: 'line 1' }],
  } as const
  const serving = [routing, first.name, 'cf-idle']
  const loaded = [first.name, routing, nextRouting]

  t.match(
    judgeShared({ ...failed, loaded, serving }),
    [{ state: 'applied' }, { candidateState: 'failed', error: 'line 1' }],
    'a failure of one group does not fail the other',
  )
  t.match(
    judgeShared({ ...failed, loaded, serving: ['cf-idle'], error: 'label: no' }),
    [{ state: 'failed', error: 'label: no' }, { candidateState: 'failed' }],
    'a program that does not serve is not applied',
  )
  t.match(
    judgeShared({ ...failed, loaded, serving: [first.name, 'cf-r-00000000'] })[0],
    { state: 'failed' },
    'a program without a route is not applied',
  )
  const all = [...loaded, second.name]
  t.match(judgeShared({ loaded: all, serving }), [
    { state: 'applied' },
    { candidateState: 'loaded' },
  ])
  t.match(
    judgeShared({ revision: 9, loaded: [first.name, routing, second.name], serving })[1],
    { candidateState: 'pending' },
    'the routing VCL of phase two is not loaded yet',
  )
  const unrouted = { program: nextRouting, error: "Symbol not found: 'cf-l-9'" }
  const refused = judgeShared({
    result: 'failed',
    failures: [unrouted],
    loaded: [first.name, routing, second.name],
    serving,
  })
  t.match(refused, [{ state: 'applied' }, { candidateState: 'failed', error: /routes requests/ }])
  t.notMatch(refused[1]?.error, 'cf-l-9')
  t.end()
})
