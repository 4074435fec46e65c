/** Runs a placement pass whenever agents or deployments changed, one at a time, changes of a moment together. */
import type { Logger } from 'pino'
import { agentChangedSubject, placementInputsSubject } from '../../bus/bus.js'
import { createContext, type Context } from '../../context.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { findSource } from '../../store/sources.js'
import type { GroupRecord } from '../../store/vcl-groups.js'
import { tellDesiredChanged } from './agent-hints.js'
import { runDeploy } from './deploy.js'
import { beginDeploy } from './deploy-begin.js'
import { followPlacements } from './placement-following.js'
import type { StateService } from './service.js'

export interface PlacementFollower {
  close(): Promise<void>
}

/** Chosen by us: arrivals and reports within this time share a pass. */
const gatherMs = 200
/** Chosen by us: a pass without any hint, in case one was lost. */
const withoutHintMs = 15_000

/** In whose name a kept wish is deployed when agents arrive. */
const placementActor: Actor = {
  accountId: 0,
  accountName: 'placement',
  sessionId: 0,
  organizationId: null,
  role: 'system',
  grants: {},
}

export function startPlacementFollower(service: StateService, log: Logger): PlacementFollower {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let closed = false
  const subscriptions = [agentChangedSubject, placementInputsSubject].map((subject) =>
    service.bus.subscribe(subject, () => {
      schedule(gatherMs)
    }),
  )
  const idle = setInterval(() => {
    schedule(0)
  }, withoutHintMs)
  return {
    close: async () => {
      closed = true
      clearTimeout(timer)
      clearInterval(idle)
      for (const subscription of subscriptions) subscription.close()
      await running
    },
  }

  function schedule(delayMs: number): void {
    if (closed) return
    if (running) again = true
    else timer ??= setTimeout(start, delayMs)
  }

  function start(): void {
    timer = undefined
    running = runPass(service, createContext(log))
      .catch((error: unknown) => {
        log.error({ err: error }, 'placement pass failed')
      })
      .finally(() => {
        running = undefined
        if (again) {
          again = false
          schedule(gatherMs)
        }
      })
  }
}

async function runPass(service: StateService, context: Context): Promise<void> {
  const { agentIds, ready } = await followPlacements(service)
  tellDesiredChanged(service, agentIds, context.traceId)
  if (agentIds.length > 0) context.log.info({ agents: agentIds.length }, 'placement followed')
  for (const group of ready) {
    const work = deployWish(service, context, group)
    await service.background.follow(context, work, 0)
  }
}

/** The wish was kept when too few agents were there: its pinned sources are deployed now. */
async function deployWish(
  service: StateService,
  context: Context,
  group: GroupRecord,
): Promise<void> {
  if (!group.wish) return
  const source = await findSource(service.store.queries, group.wish.sha)
  if (!source) throw new FleetError('conflict', 'deploy', `source ${group.wish.sha} is gone`)
  const { mainVCL, includes, deploymentIds } = group.wish
  const deploy = await beginDeploy(service, context, {
    actor: placementActor,
    group,
    gathered: { mainVCL, includes, deploymentIds, source },
    untilMs: service.now(),
  })
  if (deploy === 'unchanged') return
  await runDeploy(service, context, deploy, { waitMs: 0, percent: 100 })
}
