/**
 * Runs placement whenever agents or deployments changed, one at a time, gathering changes that come together; and runs pending
 * deploys when it finds agents for them.
 */
import type { Logger } from 'pino'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { agentChangedSubject, placementInputsSubject } from '../bus/subjects.js'
import type { Context } from '../../context.js'
import type { HeldPlacement } from '../fleet/placement-input.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { placementAccount } from '../fleet/history-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { readFreeze, readFrozenUntil, refuseFrozen } from '../identity/freeze.js'
import { notifyAgentsDrained, notifyDesiredChanged } from '../agents/agent-hints.js'
import { createTextJudge, recallSources } from '../groups/recall-sources.js'
import { missedHeartbeats } from '../reports/heartbeat.js'
import { renewEveryMs } from '../store/leases.js'
import { followPlacements, type ReconcileOptions } from '../placement/placement-following.js'
import type { ReadyGroup } from '../placement/save-run.js'
import type { StateService } from '../service.js'
import { pauseAfter } from '../../runtime/backoff.js'
import type { BeginRequest } from './begin.js'
import { beginDeploy, runDeploy } from './verbs.js'

/** Arrivals and reports within this time share a reconcile run. */
const gatherMs = 200
/** A large fleet takes long to read: while it changes, runs take at most a tenth of the time. */
const restsPerRun = 9
const longestRestMs = 1000
/** A reconcile run without any hint, in case one was lost. */
const withoutHintMs = 15_000

/** The actor of pending deploys that run when agents arrive. */
const placementActor: Actor = {
  accountId: 0,
  accountName: placementAccount,
  sessionId: 0,
  organizationId: null,
  role: 'system',
  grants: {},
}

export function startPlacementFollower(service: StateService, log: Logger): HintedLoop {
  const pendingDeploys = createPendingDeploys()
  const judge = createTextJudge(service, ({ organizationId }, error) => {
    log.warn({ organizationId }, `what is deployed is refused now, no more agents get it: ${error}`)
  })
  /** After its own start a coordinator waits for the agents that come back to it (docs/behaviour.md, Mass loss). */
  const graceUntil = service.now() + missedHeartbeats * service.settings.heartbeatMs
  return startHintedLoop(service.bus, {
    hints: [agentChangedSubject, placementInputsSubject],
    gatherMs,
    log,
    trouble: 'placement failed',
    everyMs: withoutHintMs,
    restMs: (tookMs) => Math.min(restsPerRun * tookMs, longestRestMs),
    pass: async ({ context, nextIn }) => {
      const againAt = await service.leases.run('placement', (lease) => {
        const limits = { graceUntil, lease, judge }
        return reconcile(service, context, { limits, pendingDeploys })
      })
      // Another coordinator does it; should that one end, its lease does.
      const againInMs = againAt === undefined ? renewEveryMs : (againAt ?? Infinity) - service.now()
      nextIn(Math.min(againInMs, withoutHintMs))
    },
  })
}

interface ReconcileTools {
  readonly limits: Omit<ReconcileOptions, 'isDue'>
  readonly pendingDeploys: PendingDeploys
}

/** Answers when Down agents are to be judged again, or a freeze ends. */
async function reconcile(
  service: StateService,
  context: Context,
  { limits, pendingDeploys }: ReconcileTools,
): Promise<number | null> {
  const frozen = await readFrozenUntil(service.store.queries, service.now())
  // What waits for the end of a freeze has not failed: it is tried with that end.
  const isDue = (group: GroupRecord): boolean =>
    !frozen.has(group.organizationId ?? 0) &&
    pendingDeploys.isDue(group.id, describeRelease(group), service.now())
  const { agentIds, ready, undrained, againAt } = await followPlacements(service, {
    ...limits,
    isDue,
  })
  notifyAgentsDrained(service, undrained, false)
  notifyDesiredChanged(service, agentIds, context.traceId)
  if (agentIds.length > 0) context.log.info({ agents: agentIds.length }, 'placement followed')
  const tried = ready.filter(({ isTried }) => isTried)
  for (const one of tried)
    await service.background.follow(
      context,
      tryPendingDeploy(service, context, one, pendingDeploys),
      0,
    )
  // Who was left where he is for a deploy that did not come goes then.
  if (tried.length > 0) return service.now() + gatherMs
  const ends = [againAt, ...frozen.values()].filter((at) => at !== null)
  return ends.length === 0 ? null : Math.min(...ends)
}

/** A changed release is tried again at once. */
function describeRelease({ desiredRelease }: GroupRecord): string {
  const { sha, deploymentIds = [], domains = [], releases = null } = desiredRelease ?? {}
  return JSON.stringify([sha, deploymentIds, domains.map(({ fqdn }) => fqdn), releases])
}

/** A later run tries again when it is due, at the latest the one without a hint. */
async function tryPendingDeploy(
  service: StateService,
  context: Context,
  { group, freed = [] }: ReadyGroup,
  pendingDeploys: PendingDeploys,
): Promise<void> {
  try {
    await runPendingDeploy(service, context, group, freed)
    pendingDeploys.forget(group.id)
  } catch (error) {
    const now = service.now()
    const againAt = pendingDeploys.recordFailure(group.id, describeRelease(group), now)
    if (!(error instanceof FleetError)) throw error
    context.log.warn(
      { group: group.id, errorKey: error.errorKey, againInMs: againAt - now },
      `a pending deploy failed: ${error.message}`,
    )
  }
}

/** Deploys the pinned sources of a deploy that was accepted while too few agents were available. */
async function runPendingDeploy(
  service: StateService,
  context: Context,
  group: GroupRecord,
  freed: readonly HeldPlacement[],
): Promise<void> {
  if (!group.desiredRelease) return
  const begin: BeginRequest = {
    actor: placementActor,
    groupId: group.id,
    action: 'deploy',
    choose: async (queries, group) => {
      const { desiredRelease, deployPending } = group
      // Checked again: the run may be long ago for a process that slept.
      if (!desiredRelease || !deployPending)
        throw new FleetError('conflict', 'deploy', 'the pending deploy is no longer wanted')
      const frozen = await readFreeze(queries, group.organizationId, service.now())
      if (frozen) throw refuseFrozen(frozen)
      return {
        gathered: await recallSources(service, queries, group, desiredRelease),
        naming: 'kept',
      }
    },
    freed,
  }
  const deploy = await beginDeploy(service, context, begin, service.now())
  if (deploy === 'unchanged' || deploy === 'switching') return
  await runDeploy(service, context, deploy, { waitMs: 0, percent: 100 })
}

type PendingDeploys = ReturnType<typeof createPendingDeploys>

interface Failed {
  /** A changed release is tried at once. */
  readonly release: string
  readonly failures: number
  readonly againAt: number
}

/** How often caches are kept busy by what may fail again. */
export const retries = { firstMs: 15_000, longestMs: 10 * 60_000 }

/**
 * Pending deploys that failed: the groups to leave alone for now. A release whose VCL does not compile would
 * otherwise be loaded again with every change of the fleet, and each time keep the caches' managers busy. Kept in this process
 * only: another coordinator that takes the task over tries once more.
 */
export function createPendingDeploys() {
  /** At most one entry for each group; those of groups that are tried no longer go after a while. */
  const failed = new Map<number, Failed>()
  return {
    /** Whether this release is to be tried now. */
    isDue: (groupId: number, release: string, now: number): boolean => {
      const last = failed.get(groupId)
      return last?.release !== release || now >= last.againAt
    },
    /** Answers when it is tried again, in milliseconds since 1970. */
    recordFailure: (groupId: number, release: string, now: number): number => {
      const last = failed.get(groupId)
      const failures = last?.release === release ? last.failures + 1 : 1
      const pauseMs = pauseAfter(failures, retries)
      for (const [id, { againAt }] of failed)
        if (againAt + retries.longestMs < now) failed.delete(id)
      failed.set(groupId, { release, failures, againAt: now + pauseMs })
      return now + pauseMs
    },
    forget: (groupId: number): void => {
      failed.delete(groupId)
    },
  }
}
