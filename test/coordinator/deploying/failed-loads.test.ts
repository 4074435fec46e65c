/** Loads that fail or are postponed while the deploy continues without the agent. */
import t from 'tap'
import {
  judgeReport,
  type ReportedAgent,
  type ReportedApply,
} from '../../../src/coordinator/reports/report-outcome.js'
import { createPlacement, switchPlacement } from '../../../src/coordinator/placement/placing.js'
import type { PlacementRecord } from '../../../src/coordinator/fleet/placement-queries.js'

const now = 5000
const oldProgram = { name: 'cf-1-aaaaaaaa-1', sha: 'a'.repeat(64), fqdns: null }
const newProgram = { name: 'cf-1-bbbbbbbb-1', sha: 'b'.repeat(64), fqdns: null }
const place = { group: { id: 1, organizationId: null }, agentId: 7, deploymentId: 1, position: 1 }
const served: PlacementRecord = {
  ...switchPlacement(createPlacement({ ...place, revision: 3, program: oldProgram }), 3),
  state: 'applied',
  appliedRevision: 3,
  deployedAt: 1000,
}
const loading: PlacementRecord = { ...served, candidate: newProgram, candidateState: 'pending' }
const report: ReportedApply = {
  revision: 10,
  result: 'applied',
  error: null,
  changed: true,
  failures: [],
  loaded: [oldProgram.name, newProgram.name],
}
const attempted = { revision: 9, result: 'failed' as const, error: 'line 7 pos 2', at: 1500 }

function judge(placement: PlacementRecord, reported: Partial<ReportedApply>): ReportedAgent {
  const agent = { id: 7, name: 'edge-1', desiredRevision: 10, attempted }
  const known = { ...agent, effectiveRevision: 8, recordedRevision: 8 }
  const desiredPrograms = new Map([[1, newProgram]])
  return judgeReport(
    { agent: known, placements: [placement], desiredPrograms },
    { ...report, ...reported },
    now,
  )
}

void t.test('a postponed load stays pending, with the reason', (t) => {
  const full = 'no space left in /var/lib/cachefleet'
  const reported = {
    ...report,
    result: 'failed' as const,
    error: `x: ${full}`,
    loaded: [oldProgram.name],
    interrupted: true,
    postponed: [{ program: newProgram.name, error: full }],
    serving: [oldProgram.name],
  }
  t.same(judge(loading, reported).placements[0], { ...loading, error: full })
  const others = { ...reported, postponed: [{ program: 'another', error: full }] }
  t.same(judge(loading, others).placements[0], loading, 'a load of another group is ignored')
  t.end()
})

void t.test('the last attempt', async (t) => {
  const after = (placement: PlacementRecord, reported: Partial<ReportedApply>) =>
    judge(placement, reported).agent
  await t.test('stays the failed one while the group continues without the agent', (t) => {
    const without: PlacementRecord = { ...served, state: 'failed', error: 'line 7 pos 2' }
    t.same(after(without, {}).attempted, attempted)
    t.same(after(served, { changed: false }).attempted, attempted, 'no attempt followed')
    t.match(after(without, {}), { effectiveRevision: 10, recordedRevision: 10 })
    t.end()
  })
  await t.test('is the next one that changed something', (t) => {
    t.match(after(served, {}).attempted, { revision: 10, result: 'applied', at: now })
    const healed = judge(served, { revision: 9 })
    t.match(healed.agent.attempted, { revision: 9, result: 'applied', error: null })
    t.end()
  })
})
