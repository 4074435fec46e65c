/**
 * Reconciles placement when agents or deployments change: one run at a time, each handling all changes that arrive together.
 * Starts pending deploys when it finds agents for them.
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

/** Changes that arrive within this time are handled by one reconcile run. */
const gatherMs = 200
/** Reading a large fleet takes long: while it changes, runs take at most a tenth of the time. */
const restsPerRun = 9
const longestRestMs = 5000
/** Interval of reconcile runs without a hint, in case one was lost. */
const withoutHintMs = 15_000

/** The actor of pending deploys that start when agents arrive. */
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
    log.warn(
      { organizationId },
      `the deployed VCL is refused now, so no more agents get it: ${error}`,
    )
  })
  /** After its start a coordinator waits for its agents to reconnect (docs/behaviour.md, Mass loss). */
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
      // Undefined: another coordinator holds the lease, which expires if that one ends.
      const againInMs = againAt === undefined ? renewEveryMs : (againAt ?? Infinity) - service.now()
      nextIn(Math.min(againInMs, withoutHintMs))
    },
  })
}

interface ReconcileTools {
  readonly limits: Omit<ReconcileOptions, 'isDue'>
  readonly pendingDeploys: PendingDeploys
}

/** Returns when the next run is due (Down agents, drains, freezes, a tried pending deploy); null: not needed. */
async function reconcile(
  service: StateService,
  context: Context,
  { limits, pendingDeploys }: ReconcileTools,
): Promise<number | null> {
  const frozen = await readFrozenUntil(service.store.queries, service.now())
  // A pending deploy that waits for the end of a freeze has not failed: it is tried when the freeze ends.
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
  // The next run removes placements that were kept for a pending deploy which then did not take place.
  if (tried.length > 0) return service.now() + gatherMs
  const ends = [againAt, ...frozen.values()].filter((at) => at !== null)
  return ends.length === 0 ? null : Math.min(...ends)
}

/** A release with another description is tried at once. */
function describeRelease({ desiredRelease }: GroupRecord): string {
  const { sha, deploymentIds = [], domains = [], releases = null } = desiredRelease ?? {}
  return JSON.stringify([sha, deploymentIds, domains.map(({ fqdn }) => fqdn), releases])
}

/** If it fails, a later run tries again once it is due, at the latest the next run without a hint. */
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
      // Checked again: if the process slept, the reconcile run may be long ago.
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

/** Limits how often a deploy that may fail again keeps caches busy. */
export const retries = { firstMs: 15_000, longestMs: 10 * 60_000 }

/**
 * Remembers failed pending deploys and delays their retries. Otherwise a release whose VCL does not compile would be
 * loaded again at every change of the fleet and keep the caches' manager processes busy. Kept in this process only: a
 * coordinator that takes over the task tries once more.
 */
export function createPendingDeploys() {
  /** At most one entry per group; entries of groups that are no longer tried expire. */
  const failed = new Map<number, Failed>()
  return {
    /** True if this release may be tried now. */
    isDue: (groupId: number, release: string, now: number): boolean => {
      const last = failed.get(groupId)
      return last?.release !== release || now >= last.againAt
    },
    /** Returns when it is tried again, in milliseconds since 1970. */
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
