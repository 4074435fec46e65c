/**
 * Drives rollouts: checks each running one, chooses its next step and carries the step out. Only the coordinator that holds the
 * lease does so; decisions are on disk, so another coordinator continues from there.
 */
import type { Logger } from 'pino'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { agentChangedSubject, rolloutsChangedSubject } from '../bus/subjects.js'
import type { Context } from '../../context.js'
import { rolloutStates } from '../../resources/rollout.js'
import { readRunningRollouts, writeBake, type RolloutRecord } from '../fleet/rollout-queries.js'
import type { StateService } from '../service.js'
import { renewEveryMs } from '../store/leases.js'
import { carryOut } from './carry-out.js'
import { findFreezeStep } from './hold-frozen.js'
import { chooseStep } from './next-step.js'
import { toCourse } from './rollout-course.js'
import { createObservations, type Observations } from './observations.js'
import { seeRollout } from './see-rollout.js'
import { isAnySwitching } from './seen-places.js'
import { createWebhookGates, type AskWebhook, type WebhookGates } from './webhook-gates.js'

/** Reports that arrive within this time are handled by one check. */
const gatherMs = 30
/** Interval between checks while a rollout runs; gates are judged as often. */
const pollEveryMs = 1000
/** While agents switch, a rollout is read as a whole this often, and when the last of them has switched. */
const wholeEveryMs = 500
/** Interval between checks while no rollout runs; a hint announces a new one. */
const idleMs = 15_000
/** How often the progress of a bake is written, for a coordinator that takes it over. */
const writeEveryMs = 2000

export function startRolloutRunner(
  service: StateService,
  askWebhook: AskWebhook,
  log: Logger,
): HintedLoop {
  const observations = createObservations(service.bus, service.now)
  const webhooks = createWebhookGates(askWebhook, log)
  const bakes = createBakeClock()
  const checkedAtMs = new Map<number, number>()
  const loop = startHintedLoop(service.bus, {
    hints: [rolloutsChangedSubject, agentChangedSubject],
    gatherMs,
    log,
    trouble: 'running rollouts cannot be checked',
    everyMs: idleMs,
    retryMs: pollEveryMs,
    pass: async ({ context, nextIn }) => {
      const running = await service.leases.run('rollouts', () =>
        checkAll(service, context, { observations, webhooks, bakes, checkedAtMs }),
      )
      if (running === undefined) {
        observations.observe([])
        webhooks.ask([])
      }
      const otherwise = running === undefined ? renewEveryMs : idleMs
      nextIn(running !== undefined && running > 0 ? pollEveryMs : otherwise)
    },
  })
  return {
    close: async () => {
      await loop.close()
      observations.close()
      await webhooks.close()
    },
  }
}

interface Tools {
  readonly observations: Observations
  readonly webhooks: WebhookGates
  readonly bakes: BakeClock
  /** When each rollout was last read as a whole. */
  readonly checkedAtMs: Map<number, number>
}

/** Returns the number of running rollouts. */
async function checkAll(service: StateService, context: Context, tools: Tools): Promise<number> {
  const running = await readRunningRollouts(service.store.queries)
  tools.observations.observe(running)
  tools.webhooks.ask(running)
  tools.bakes.keepOnly(running.map(({ id }) => id))
  for (const id of tools.checkedAtMs.keys())
    if (!running.some((rollout) => rollout.id === id)) tools.checkedAtMs.delete(id)
  for (const rollout of running)
    await checkRollout(service, context, rollout, tools).catch((error: unknown) => {
      // The others continue; this one is checked again.
      context.log.error({ err: error, rollout: rollout.id }, 'a rollout cannot be checked')
    })
  return running.length
}

async function checkRollout(
  service: StateService,
  context: Context,
  rollout: RolloutRecord,
  { bakes, ...tools }: Tools,
): Promise<void> {
  const { id, epoch } = rollout
  const byFreeze = await findFreezeStep(service, rollout)
  if (byFreeze) {
    await carryOut(service, context, id, (now) =>
      now.epoch === epoch ? { step: byFreeze } : undefined,
    )
    return
  }
  if (rollout.state === rolloutStates.Paused) return
  if (await canSkipCheck(service, rollout, tools.checkedAtMs)) return
  const bakedSeconds = bakes.read(rollout)
  const { seen, gates } = await seeRollout(service, { ...rollout, bakedSeconds }, tools)
  const step = chooseStep(toCourse(rollout), seen)
  if (step.do !== 'wait') {
    // A user may have paused it meanwhile.
    await carryOut(service, context, id, (now) =>
      now.epoch === epoch ? { step, seen: { gates, bakedSeconds: seen.bakedSeconds } } : undefined,
    )
    return
  }
  if (rollout.state === rolloutStates.Baking && bakes.isToBeWritten(id))
    await writeBake(service.store.queries, { id, epoch, gates, bakedSeconds: seen.bakedSeconds })
}

/** Each agent that switches causes a hint; only the last one of a wave justifies reading the whole rollout. */
async function canSkipCheck(
  { store }: StateService,
  { id, groupId, state }: RolloutRecord,
  checkedAtMs: Map<number, number>,
): Promise<boolean> {
  const nowMs = performance.now()
  const isNew = nowMs - (checkedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < wholeEveryMs
  const isMoving = state === rolloutStates.Switching || state === rolloutStates.RollingBack
  if (isNew && isMoving && (await isAnySwitching(store.queries, groupId))) return true
  checkedAtMs.set(id, nowMs)
  return false
}

type BakeClock = ReturnType<typeof createBakeClock>

/** Measures how long each rollout bakes under this process, on top of the written value; no host clock is involved. */
function createBakeClock() {
  const baking = new Map<
    number,
    { readonly epoch: number; readonly from: number; readonly sinceMs: number; writtenAtMs: number }
  >()
  return {
    read: ({ id, epoch, state, bakedSeconds }: RolloutRecord): number => {
      if (state !== rolloutStates.Baking) return bakedSeconds
      const nowMs = performance.now()
      const known = baking.get(id)
      if (known?.epoch === epoch) return known.from + (nowMs - known.sinceMs) / 1000
      baking.set(id, { epoch, from: bakedSeconds, sinceMs: nowMs, writtenAtMs: nowMs })
      return bakedSeconds
    },
    isToBeWritten: (id: number): boolean => {
      const known = baking.get(id)
      const nowMs = performance.now()
      if (!known || nowMs - known.writtenAtMs < writeEveryMs) return false
      known.writtenAtMs = nowMs
      return true
    },
    keepOnly: (ids: readonly number[]): void => {
      for (const id of baking.keys()) if (!ids.includes(id)) baking.delete(id)
    },
  }
}
