/**
 * Runs a placement pass whenever agents or deployments changed, one at a time, changes of a moment together; and deploys kept
 * wishes when it finds agents for them.
 */
import type { Logger } from 'pino'
import { agentChangedSubject, placementInputsSubject } from '../bus/subjects.js'
import type { Context } from '../../context.js'
import type { HeldPlace } from '../fleet/placement-input.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { placementAccount } from '../fleet/history-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import { createTextJudge, recallSources } from '../groups/recall-sources.js'
import { missedHeartbeats } from '../reports/heartbeat.js'
import { renewEveryMs } from '../store/leases.js'
import { followPlacements, type PassLimits } from '../placement/placement-following.js'
import type { ReadyGroup } from '../placement/placement-pass.js'
import type { StateService } from '../service.js'
import { startLoop } from '../../runtime/loop.js'
import { pauseAfter } from '../../runtime/backoff.js'
import type { BeginRequest } from './begin.js'
import { beginDeploy, runDeploy } from './verbs.js'

interface PlacementFollower {
  close(): Promise<void>
}

/** Chosen by us: arrivals and reports within this time share a pass. */
const gatherMs = 200
/** Chosen by us: a pass without any hint, in case one was lost. */
const withoutHintMs = 15_000

/** In whose name a kept wish is deployed when agents arrive. */
const placementActor: Actor = {
  accountId: 0,
  accountName: placementAccount,
  sessionId: 0,
  organizationId: null,
  role: 'system',
  grants: {},
}

export function startPlacementFollower(service: StateService, log: Logger): PlacementFollower {
  const keptWishes = createKeptWishes()
  const judge = createTextJudge(service, ({ organizationId }, error) => {
    log.warn({ organizationId }, `what is deployed is refused now, no more agents get it: ${error}`)
  })
  /** After its own start a coordinator waits for the agents that come back to it (docs/behaviour.md, Mass loss). */
  const patientUntil = service.now() + missedHeartbeats * service.settings.heartbeatMs
  const loop = startLoop({
    ...{ log, trouble: 'placement pass failed', everyMs: withoutHintMs },
    pass: async ({ context, nextIn }) => {
      const againAt = await service.leases.run('placement', (term) => {
        const limits = { patientUntil, term, judge }
        return runPass(service, context, { limits, keptWishes })
      })
      // Another coordinator does it; should that one end, its lease does.
      const againInMs = againAt === undefined ? renewEveryMs : (againAt ?? Infinity) - service.now()
      nextIn(Math.min(againInMs, withoutHintMs))
    },
  })
  const subscriptions = [agentChangedSubject, placementInputsSubject].map((subject) =>
    service.bus.subscribe(subject, () => {
      loop.wake(gatherMs)
    }),
  )
  return {
    close: async () => {
      for (const subscription of subscriptions) subscription.close()
      await loop.close()
    },
  }
}

interface PassTools {
  readonly limits: Omit<PassLimits, 'isDue'>
  readonly keptWishes: KeptWishes
}

/** Answers when Down agents are to be judged again. */
async function runPass(
  service: StateService,
  context: Context,
  { limits, keptWishes }: PassTools,
): Promise<number | null> {
  const isDue = (group: GroupRecord): boolean =>
    keptWishes.isDue(group.id, describeWish(group), service.now())
  const { agentIds, ready, againAt } = await followPlacements(service, { ...limits, isDue })
  tellDesiredChanged(service, agentIds, context.traceId)
  if (agentIds.length > 0) context.log.info({ agents: agentIds.length }, 'placement followed')
  const tried = ready.filter(({ isTried }) => isTried)
  for (const one of tried)
    await service.background.follow(context, tryWish(service, context, one, keptWishes), 0)
  // Who was left where he is for a deploy that did not come goes then.
  return tried.length > 0 ? service.now() + gatherMs : againAt
}

/** What is another wish is worth another try. */
function describeWish({ wish }: GroupRecord): string {
  const { sha, deploymentIds = [], domains = [] } = wish ?? {}
  return JSON.stringify([sha, deploymentIds, domains.map(({ fqdn }) => fqdn)])
}

/** Later passes look again when it is due; the one without a hint at the latest. */
async function tryWish(
  service: StateService,
  context: Context,
  { group, freed = [] }: ReadyGroup,
  keptWishes: KeptWishes,
): Promise<void> {
  try {
    await deployWish(service, context, group, freed)
    keptWishes.forget(group.id)
  } catch (error) {
    const now = service.now()
    const againAt = keptWishes.recordFailure(group.id, describeWish(group), now)
    if (!(error instanceof FleetError)) throw error
    context.log.warn(
      { group: group.id, errorKey: error.errorKey, againInMs: againAt - now },
      `a kept wish was not deployed: ${error.message}`,
    )
  }
}

/** The wish was kept when too few agents were there: its pinned sources are deployed now. */
async function deployWish(
  service: StateService,
  context: Context,
  group: GroupRecord,
  freed: readonly HeldPlace[],
): Promise<void> {
  if (!group.wish) return
  const begin: BeginRequest = {
    actor: placementActor,
    groupId: group.id,
    action: 'deploy',
    choose: async (queries, group) => {
      const { wish, wishPending } = group
      // Since the pass, which may be long ago for a process that slept.
      if (!wish || !wishPending)
        throw new FleetError('conflict', 'deploy', 'the kept wish is wanted no longer')
      return { gathered: await recallSources(service, queries, group, wish), naming: 'kept' }
    },
    freed,
  }
  const deploy = await beginDeploy(service, context, begin, service.now())
  if (deploy === 'unchanged' || deploy === 'switching') return
  await runDeploy(service, context, deploy, { waitMs: 0, percent: 100 })
}

type KeptWishes = ReturnType<typeof createKeptWishes>

interface Failed {
  /** A wish that is another one is tried at once. */
  readonly wish: string
  readonly failures: number
  readonly againAt: number
}

/** How often caches are kept busy by what may fail again. */
export const retries = { firstMs: 15_000, longestMs: 10 * 60_000 }

/**
 * Kept wishes that were tried in vain: which groups are to be left alone for now. A wish whose VCL does not compile would
 * otherwise be loaded again with every change of the fleet, and each time keep the caches' managers busy. Kept in this process
 * only: another coordinator that takes the duty over tries once more.
 */
export function createKeptWishes() {
  /** At most one entry for each group; those of groups that are tried no longer go after a while. */
  const failed = new Map<number, Failed>()
  return {
    /** Whether this wish is to be tried now. */
    isDue: (groupId: number, wish: string, now: number): boolean => {
      const last = failed.get(groupId)
      return last?.wish !== wish || now >= last.againAt
    },
    /** Answers when it is tried again, in milliseconds since 1970. */
    recordFailure: (groupId: number, wish: string, now: number): number => {
      const last = failed.get(groupId)
      const failures = last?.wish === wish ? last.failures + 1 : 1
      const pauseMs = pauseAfter(failures, retries)
      for (const [id, { againAt }] of failed)
        if (againAt + retries.longestMs < now) failed.delete(id)
      failed.set(groupId, { wish, failures, againAt: now + pauseMs })
      return now + pauseMs
    },
    forget: (groupId: number): void => {
      failed.delete(groupId)
    },
  }
}
