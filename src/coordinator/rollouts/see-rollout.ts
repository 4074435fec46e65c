/** Reads what a rollout's next step is chosen from: its placements, its agents, their observations, the verdicts of its gates. */
import { setImmediate as servedOthers } from 'node:timers/promises'
import { agentStates } from '../../resources/agent-state.js'
import { rolloutStates } from '../../resources/rollout.js'
import type { GateRecord, RolloutRecord } from '../fleet/rollout-queries.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import type { StateService } from '../service.js'
import { countHealthy } from './count-healthy.js'
import { findBelowMin } from './find-below-min.js'
import { findProgress } from './find-progress.js'
import { agentsPerStep, judgeGates, judgeTogether, type ObservedAgent } from './judge-gates.js'
import type { JudgedGate } from './judged-gate.js'
import { hasRestarted } from './observed-seconds.js'
import { runInSteps } from '../../in-steps.js'
import type { AgentProgress, RolloutSeen, SeenAgent } from './next-step.js'
import type { Observations } from './observations.js'
import { readSeenPlaces, type SeenPlace } from './seen-places.js'
import type { WebhookGates } from './webhook-gates.js'

interface SeenRollout {
  readonly seen: RolloutSeen
  readonly gates: readonly GateRecord[]
}

/** Connected agents go back within a second; one that does not delays the bans of the others by at most this time. */
const longReturnMs = 10_000

interface Sources {
  readonly observations: Observations
  readonly webhooks: WebhookGates
}

export async function seeRollout(
  service: StateService,
  rollout: RolloutRecord,
  sources: Sources,
): Promise<SeenRollout> {
  const { queries } = service.store
  const { groupId } = rollout
  const places = await readSeenPlaces(queries, groupId)
  const progress = findProgress(rollout, places)
  await servedOthers()
  const written = new Map(
    rollout.waves.flatMap(({ agents }) => agents.map(({ id, state }) => [id, state])),
  )
  const agents = [...progress].map(([agentId, how]): SeenAgent => {
    const isThere = isRunning(places.get(agentId))
    const isNewlyBack = how === 'back' && written.get(agentId) === 'switching'
    return { agentId, progress: how, isThere, isNewlyBack }
  })
  if (rollout.state === rolloutStates.RollingBack) {
    const { bakedSeconds } = rollout
    const nothing = { belowMin: null, verdict: 'pass', why: null, bakedSeconds } as const
    const sinceMs = service.now() - (rollout.waves[rollout.wave - 1]?.endedAt ?? 0)
    const isReturnOverdue = sinceMs > longReturnMs
    return { seen: { agents, isReturnOverdue, ...nothing }, gates: rollout.gates }
  }
  await servedOthers()
  const healthy = await countHealthy(queries, rollout)
  await servedOthers()
  const judged = await runInSteps(judgeObserved(rollout, { progress, places, healthy, ...sources }))
  const now = service.now()
  const observed = await runInSteps(sources.observations.countBakedSeconds(rollout))
  const bakedSeconds = Math.max(rollout.bakedSeconds, observed)
  return {
    seen: {
      agents,
      belowMin: findBelowMin(
        await readDeploymentsOfGroup(queries, groupId, rollout.fromSources.deploymentIds),
        [...places.values()],
        (agentId) => isRunning(places.get(agentId)),
      ),
      ...judgeTogether(judged),
      bakedSeconds,
      isReturnOverdue: false,
    },
    gates: judged.map((gate) => ({ ...gate, at: now })),
  }
}

function isRunning(place: SeenPlace | undefined): boolean {
  return place?.agentState === agentStates.Running
}

interface Observing extends Sources {
  readonly progress: ReadonlyMap<number, AgentProgress>
  readonly places: ReadonlyMap<number, SeenPlace>
  /** Number of healthy backends of the VCL that is rolled out, by agent. */
  readonly healthy: ReadonlyMap<number, number>
}

/** In steps of a few ms. */
function* judgeObserved(
  rollout: RolloutRecord,
  observing: Observing,
): Generator<void, readonly JudgedGate[], void> {
  const { progress, places, observations, webhooks } = observing
  const switched: ObservedAgent[] = []
  const control = []
  let agents = 0
  for (const [agentId, how] of progress) {
    agents += 1
    if (agents % agentsPerStep === 0) yield
    const place = places.get(agentId)
    if (!place) continue
    const seen = observeSwitched(rollout, place, how, observing)
    if (seen) switched.push(seen)
    const beside = how === 'waiting' && isRunning(place)
    const newest = beside && observations.readControl(rollout, agentId)
    if (newest) control.push(newest)
  }
  const { gates } = rollout.policy
  const seen = { switched, control, webhooks: webhooks.read(rollout) }
  return yield* judgeGates(gates, seen)
}

/** Returns null if the agent has not switched. */
function observeSwitched(
  rollout: RolloutRecord,
  place: SeenPlace,
  how: AgentProgress,
  { observations, healthy }: Observing,
): ObservedAgent | null {
  if (how !== 'switched' && how !== 'switching') return null
  const { agentId, agentName: name } = place
  const seen = observations.read(rollout, agentId)
  // A cache that dies repeatedly may neither be seen running nor report that it has switched.
  const hasDied = place.agentState !== agentStates.Down && seen.since.some(hasRestarted)
  if (how === 'switching' && !hasDied) return null
  const healthyBackends = healthy.get(agentId) ?? null
  return { ...seen, healthyBackends, agentId, name, isThere: isRunning(place) || hasDied }
}
