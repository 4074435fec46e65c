/**
 * Keeps the list of open problems current: one of the coordinators checks changed objects again and reports problems that hold
 * for a while as events (docs/behaviour.md, Problems). While nothing changes it sends three queries a second.
 */
import type { Logger } from 'pino'
import { sql } from 'kysely'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { eventsSubject } from '../bus/subjects.js'
import { rolloutStates } from '../../resources/rollout.js'
import type { ProblemBearer } from '../../resources/problem.js'
import type { Pass } from '../../runtime/loop.js'
import { pauseFor } from '../../runtime/pause.js'
import { hasChecks, noteChecks, takeChecks, type ProblemCheck } from '../problems/problem-checks.js'
import type { StateService } from '../service.js'
import { listIds } from '../store/given-rows.js'
import { renewEveryMs } from '../store/leases.js'
import type { Queries } from '../store/store.js'
import { saveRows } from './change-rows.js'
import { findIll } from './find-ill.js'
import { planRows } from './plan-rows.js'
import { publishProblems } from './publish-problems.js'

/** Changes that arrive within this time are handled by one check. */
const gatherMs = 200
/** Also the precision of the time of an event. */
const everyMs = 1_000
/** Objects per check: some milliseconds. A group may have ten thousand places. */
const atOnce = {
  agent: 200,
  invalidation: 200,
  certificate: 20,
  webhook: 200,
  rollout: 200,
  deployment: 10,
  vclgroup: 10,
  stage: 10,
}
/** After each check it pauses as long as the check took, at most this long, so that it does not slow down a deploy. */
const longestRestMs = 500
/** Certificates expire and agents continue invalidations without a recorded change. */
const expiryEveryMs = 3600 * 1000
const invalidationsEveryMs = 10_000
const maxOpenInvalidations = 500

export function startProblemFollower(service: StateService, log: Logger): HintedLoop {
  let sweptAt = { all: 0, certificates: 0, invalidations: 0 }
  return startHintedLoop(service.bus, {
    hints: [eventsSubject],
    gatherMs,
    log,
    trouble: 'problems cannot be followed',
    everyMs,
    pass: async ({ signal, nextIn }) => {
      const ran = await service.leases.run('problems', async () => {
        sweptAt = await sweep(service, sweptAt)
        await judgeChanged(service, signal)
        while (!signal.aborted && (await publishProblems(service)))
          service.bus.publish(eventsSubject, {})
        return true
      })
      // A coordinator that takes over the lease does not know which checks the previous holder left.
      if (ran === undefined) sweptAt = { ...sweptAt, all: 0 }
      nextIn(ran === undefined ? renewEveryMs : everyMs)
    },
  })
}

interface SweptAt {
  readonly all: number
  readonly certificates: number
  readonly invalidations: number
}

/** Notes objects that are due for a check without a change. */
async function sweep({ store, now }: StateService, sweptAt: SweptAt): Promise<SweptAt> {
  const at = now()
  if (sweptAt.all === 0) {
    await store.transaction(noteEverything)
    return { all: at, certificates: at, invalidations: at }
  }
  const isExpiryDue = at - sweptAt.certificates >= expiryEveryMs
  const areInvalidationsDue = at - sweptAt.invalidations >= invalidationsEveryMs
  if (isExpiryDue) await noteAll(store.queries, 'certificate', 'certificates')
  if (areInvalidationsDue) await noteOpenInvalidations(store.queries)
  return {
    all: sweptAt.all,
    certificates: isExpiryDue ? at : sweptAt.certificates,
    invalidations: areInvalidationsDue ? at : sweptAt.invalidations,
  }
}

async function noteEverything(queries: Queries): Promise<void> {
  await noteAll(queries, 'agent', 'agents')
  await noteAll(queries, 'vclgroup', 'vclGroups')
  await noteAll(queries, 'deployment', 'deployments')
  await noteAll(queries, 'certificate', 'certificates')
  await noteAll(queries, 'webhook', 'webhooks')
  await sql`insert into "problemChecks" select 'invalidation', id from invalidations
    where outcome is null or failed = 1 on conflict do nothing`.execute(queries)
  await sql`insert into "problemChecks" select 'rollout', id from rollouts
    where state = ${sql.lit(rolloutStates.Paused)} on conflict do nothing`.execute(queries)
  await sql`insert into "problemChecks" select distinct "objectType", "objectId" from "openProblems"
    where 1 = 1 on conflict do nothing`.execute(queries)
}

async function noteAll(
  queries: Queries,
  type: ProblemBearer,
  table: 'agents' | 'vclGroups' | 'deployments' | 'certificates' | 'webhooks',
): Promise<void> {
  await sql`insert into "problemChecks" select ${sql.lit(type)}, id from ${sql.table(table)}
    where 1 = 1 on conflict do nothing`.execute(queries)
}

async function noteOpenInvalidations(queries: Queries): Promise<void> {
  const open = await queries
    .selectFrom('invalidations')
    .select('id')
    .where('outcome', 'is', null)
    .orderBy('position')
    .limit(maxOpenInvalidations)
    .execute()
  const checks = open.map(({ id }) => ({ objectType: 'invalidation', objectId: id }) as const)
  await noteChecks(queries, checks)
}

async function judgeChanged(service: StateService, signal: Pass['signal']): Promise<void> {
  const { store } = service
  while (!signal.aborted && (await hasChecks(store.queries))) {
    const startedAt = performance.now()
    const checks = await store.transaction((queries) => takeChecks(queries, (type) => atOnce[type]))
    try {
      await judgeSome(service, checks)
    } catch (error) {
      await noteChecks(store.queries, checks)
      throw error
    }
    await pauseFor(Math.min(performance.now() - startedAt, longestRestMs), signal)
  }
}

async function judgeSome(service: StateService, checks: readonly ProblemCheck[]): Promise<void> {
  const { store, now } = service
  const type = checks[0]?.objectType
  if (type === undefined) return
  const ids = checks.map(({ objectId }) => objectId)
  const judged = await findIll[type](service, ids)
  const follow = await findFollowing(store.queries, type, ids)
  await store.transaction(async (queries) => {
    const known = await queries
      .selectFrom('openProblems')
      .selectAll()
      .where('objectType', '=', type)
      .where('objectId', 'in', listIds(ids))
      .execute()
    await saveRows(queries, planRows(type, judged, known, now()))
    await noteChecks(queries, follow)
  })
}

/** The objects whose problems depend on these. */
async function findFollowing(
  queries: Queries,
  type: ProblemBearer,
  ids: readonly number[],
): Promise<readonly ProblemCheck[]> {
  if (type === 'agent') {
    const rows = await queries
      .selectFrom('certificateAgents')
      .select('certificateId')
      .distinct()
      .where('agentId', 'in', listIds(ids))
      .execute()
    return rows.map(({ certificateId: objectId }) => ({ objectType: 'certificate', objectId }))
  }
  if (type !== 'vclgroup') return []
  const deployments = await queries
    .selectFrom('vclGroupDeployments')
    .select('deploymentId')
    .distinct()
    .where('groupId', 'in', [...ids])
    .execute()
  return [
    ...deployments.map(
      ({ deploymentId: objectId }) => ({ objectType: 'deployment', objectId }) as const,
    ),
    ...(await listStages(queries, ids)).map(
      (objectId) => ({ objectType: 'stage', objectId }) as const,
    ),
  ]
}

/** Those of these groups that have a stage, or whose stage had problems and may no longer exist. */
async function listStages(
  queries: Queries,
  groupIds: readonly number[],
): Promise<readonly number[]> {
  const staged = await queries
    .selectFrom('stages')
    .select('groupId')
    .where('groupId', 'in', [...groupIds])
    .execute()
  const ill = await queries
    .selectFrom('openProblems')
    .select('objectId')
    .distinct()
    .where('objectType', '=', 'stage')
    .where('objectId', 'in', [...groupIds])
    .execute()
  return [
    ...new Set([...staged.map(({ groupId }) => groupId), ...ill.map(({ objectId }) => objectId)]),
  ]
}
