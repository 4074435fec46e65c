/** Reports are stored together with their placements; run for each database. */
import type { Test } from 'tap'
import { createReportRecorder } from '../../../src/coordinator/reports/agent-reports.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { readPlacements, savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { addAgent, addDeployment, addFile, addGroup } from '../store/rows.js'
import type { TestService } from '../gateway/service.js'
import { all, delivered, watch } from './hints.js'

export async function reportsContract(
  t: Test,
  start: (t: Test) => Promise<TestService>,
): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const hinted = watch(service)
  const recorder = createReportRecorder(service, service.log)
  const groupId = await addGroup(queries, 'group', await addFile(queries, 'main.vcl'))
  const deploymentId = await addDeployment(queries, 'deployment')
  const program = { name: `cf-${groupId}-new`, sha: 'f'.repeat(64), fqdns: null }

  await t.test('reports of a whole fleet are written with their placements', async (t) => {
    const ids: number[] = []
    for (let n = 0; n < 450; n++)
      ids.push(await addAgent(queries, `fleet-${n}`, { desiredRevision: 2 }))
    await savePlacements(
      queries,
      ids.map((agentId, position) => ({
        groupId,
        agentId,
        organizationId: null,
        deploymentId,
        position,
        state: 'wanted' as const,
        wantedRevision: 1,
        appliedRevision: null,
        current: null,
        candidate: program,
        candidateState: 'pending' as const,
        previous: null,
        error: null,
        deployedAt: null,
        keptDown: false,
        stage: false,
        leaving: false,
        replacedBy: null,
      })),
    )
    for (const [n, agentId] of ids.entries())
      recorder.recordApply(agentId, {
        revision: 2,
        result: n % 3 === 0 ? 'failed' : 'applied',
        error: null,
        loaded: n % 3 === 0 ? [] : [program.name],
        failures: n % 3 === 0 ? [{ program: program.name, error: 'does not compile' }] : [],
        changed: true,
      })

    await recorder.flush()

    const placements = await readPlacements(queries, { groupIds: [groupId] })
    t.equal(placements.filter((one) => one.candidateState === 'loaded').length, 300)
    const failed = placements.filter((one) => one.candidateState === 'failed')
    t.equal(failed.length, 150)
    t.ok(failed.every((one) => one.error === 'does not compile'))
    const [first = 0, second = 0] = ids
    t.match(await findAgent(queries, all, first), {
      attempted: { revision: 2, result: 'failed', error: 'does not compile', at: service.now() },
      effectiveRevision: null,
    })
    t.match(await findAgent(queries, all, second), {
      attempted: { revision: 2, result: 'applied', error: null },
      effectiveRevision: 2,
    })
    await delivered(service)
    t.same(new Set(hinted.flat()), new Set(ids))
    t.ok(hinted.length <= 4, `${hinted.length} hints`)
  })

  await t.test('reports of deleted agents are dropped', async (t) => {
    recorder.recordApply(999_999, {
      revision: 1,
      result: 'applied',
      error: null,
      loaded: [],
      failures: [],
      changed: false,
    })
    await recorder.flush()
    t.same(service.warnings, [])
  })

  await t.test(
    'reports wait during an outage of the store and are written in order afterwards',
    async (t) => {
      const agentId = await addAgent(queries, 'patient', { desiredRevision: 2 })
      let isOut = true
      const failing: TestService = {
        ...service,
        store: {
          ...service.store,
          decide: (work) =>
            isOut ? Promise.reject(new Error('away')) : service.store.decide(work),
        },
      }
      const patient = createReportRecorder(failing, service.log)
      const report = { error: null, loaded: [], failures: [], changed: true }
      patient.recordApply(agentId, { ...report, revision: 1, result: 'applied' })
      patient.recordApply(agentId, { ...report, revision: 2, result: 'failed', error: 'disk full' })
      await patient.flush()
      t.equal((await findAgent(queries, all, agentId))?.attempted, null)

      isOut = false
      await patient.close()

      t.match(await findAgent(queries, all, agentId), {
        attempted: { revision: 2, result: 'failed', error: 'disk full' },
        effectiveRevision: 1,
      })
    },
  )
  await recorder.close()
}
