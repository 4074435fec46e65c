/**
 * Chooses what a rollout does next, from its record, what was observed and how long it has baked. Pure; the caller writes a step
 * before carrying it out (docs/behaviour.md, Rollouts).
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> Loading
 *   Loading --> Switching: loaded
 *   Loading --> Failed: too few loaded
 *   Switching --> Baking: the wave has switched
 *   Switching --> Switching: the same, where waves do not bake
 *   Switching --> Succeeded: the same, it was the last wave
 *   Baking --> Switching: passed, the next wave
 *   Baking --> Succeeded: passed, it was the last wave
 *   Switching --> RollingBack: a gate failed, or below min
 *   Baking --> RollingBack: a gate failed, or below min
 *   Switching --> Paused: the same, where the policy says so; or somebody paused it
 *   Baking --> Paused: the same; or inconclusive
 *   Paused --> Switching: resumed (the wave bakes anew), or advanced
 *   Paused --> RollingBack: aborted
 *   RollingBack --> RollingBack: some are back, and get their ban
 *   RollingBack --> RolledBack: all are back
 *   RollingBack --> Aborted: all are back
 * ```
 */
import { rolloutStates, type GateVerdict, type RolloutPolicy } from '../../resources/rollout.js'

/** How far an agent of the rollout is. `gone`: it lost its placement, or was deleted. */
export type AgentProgress = 'waiting' | 'switching' | 'switched' | 'failed' | 'back' | 'gone'

export interface SeenAgent {
  readonly agentId: number
  readonly progress: AgentProgress
  /** It is connected and its cache is running. */
  readonly isThere: boolean
  /** It served the new release and has gone back, which is not written yet. */
  readonly isNewlyBack: boolean
}

export interface RolloutSeen {
  readonly agents: readonly SeenAgent[]
  /** Describes a deployment with fewer than min agents serving; null: none. */
  readonly belowMin: string | null
  readonly verdict: GateVerdict
  /** The reason for a verdict that is not `pass`. */
  readonly why: string | null
  /** Observed seconds of the current bake. */
  readonly bakedSeconds: number
  /** True once every agent that could go back quickly has had the time to. */
  readonly isReturnOverdue: boolean
}

export interface RolloutCourse {
  readonly state: number
  /** From 1; 0: none has begun. */
  readonly wave: number
  readonly waves: readonly { readonly agentIds: readonly number[]; readonly holds: boolean }[]
  readonly policy: Pick<
    RolloutPolicy,
    'bake' | 'maxBake' | 'onFailure' | 'onInconclusive' | 'banOnRollback'
  >
  /** Whether it ends as Aborted or RolledBack once all agents are back. */
  readonly isAborted: boolean
}

export type RolloutStep =
  | { readonly do: 'wait' }
  /** The wave's last agent has switched. */
  | { readonly do: 'bake' }
  | { readonly do: 'next'; readonly verdict: GateVerdict }
  | { readonly do: 'succeed'; readonly verdict: GateVerdict }
  | { readonly do: 'pause'; readonly verdict: GateVerdict | null; readonly reason: string }
  | { readonly do: 'rollBack'; readonly reason: string; readonly isAborted?: boolean }
  /** These agents are back: the objects that they stored meanwhile are banned there. */
  | { readonly do: 'ban'; readonly agentIds: readonly number[] }
  | { readonly do: 'end'; readonly state: 'RolledBack' | 'Aborted' }

const wait = { do: 'wait' } as const

export function chooseStep(rollout: RolloutCourse, seen: RolloutSeen): RolloutStep {
  const { Switching, Baking, RollingBack } = rolloutStates
  switch (rollout.state) {
    case Switching:
      return (
        findFailure(rollout, seen) ?? (hasSwitched(rollout, seen) ? endSwitch(rollout, seen) : wait)
      )
    case Baking:
      return findFailure(rollout, seen) ?? judgeBake(rollout, seen)
    case RollingBack:
      return judgeReturn(rollout, seen)
    default:
      return wait
  }
}

function findFailure({ policy }: RolloutCourse, seen: RolloutSeen): RolloutStep | null {
  const reason = seen.belowMin ?? (seen.verdict === 'fail' ? (seen.why ?? 'a gate failed') : null)
  if (reason === null) return null
  return policy.onFailure === 'pause'
    ? { do: 'pause', verdict: 'fail', reason }
    : { do: 'rollBack', reason }
}

/** True if each connected agent has switched or failed. Absent agents fail no wave, and switch when they reconnect. */
function hasSwitched({ wave, waves }: RolloutCourse, { agents }: RolloutSeen): boolean {
  const own = new Set(waves[wave - 1]?.agentIds)
  return agents.every(
    ({ agentId, progress, isThere }) =>
      !own.has(agentId) || !isThere || (progress !== 'switching' && progress !== 'waiting'),
  )
}

/** A wave that does not bake has passed when it has switched. */
function endSwitch(rollout: RolloutCourse, seen: RolloutSeen): RolloutStep {
  const step = judgeBake(rollout, { ...seen, bakedSeconds: 0 })
  return step.do === 'next' || step.do === 'succeed' ? step : { do: 'bake' }
}

function judgeBake(rollout: RolloutCourse, seen: RolloutSeen): RolloutStep {
  const { policy, wave, waves } = rollout
  const { verdict, bakedSeconds, why } = seen
  if (bakedSeconds < policy.bake) return wait
  const isInconclusive = verdict === 'inconclusive' && policy.bake > 0
  if (isInconclusive && bakedSeconds < policy.maxBake) return wait
  if (isInconclusive && policy.onInconclusive === 'pause')
    return { do: 'pause', verdict, reason: `inconclusive: ${why ?? 'a gate'}` }
  if (wave < waves.length && waves[wave - 1]?.holds === true)
    return {
      do: 'pause',
      verdict,
      reason: 'the named agents serve it; advance it to go on with the others',
    }
  return { do: wave < waves.length ? 'next' : 'succeed', verdict }
}

/** One ban for all agents that go back together; an agent that was absent gets its own. */
function judgeReturn({ policy, isAborted }: RolloutCourse, seen: RolloutSeen): RolloutStep {
  const { agents, isReturnOverdue } = seen
  const agentIds = agents.flatMap(({ agentId, isNewlyBack }) => (isNewlyBack ? [agentId] : []))
  const isComing = agents.some(({ progress, isThere }) => isThere && progress === 'switching')
  if (policy.banOnRollback && agentIds.length > 0 && (!isComing || isReturnOverdue))
    return { do: 'ban', agentIds }
  return areBack(seen) ? { do: 'end', state: isAborted ? 'Aborted' : 'RolledBack' } : wait
}

/** Absent agents must be back too: what they hold is unknown until they reconnect. */
function areBack({ agents }: RolloutSeen): boolean {
  return agents.every(({ progress }) => progress === 'back' || progress === 'gone')
}

export type RolloutVerb = 'pause' | 'resume' | 'advance' | 'abort'

type VerbOutcome =
  | 'pause'
  | 'bakeAnew'
  | 'next'
  | 'succeed'
  | 'rollBack'
  | { readonly refused: string }
type VerbTarget = Pick<RolloutCourse, 'state' | 'wave' | 'waves'>

/** Returns what a user's verb does, or why it is refused. */
export function judgeVerb(verb: RolloutVerb, rollout: VerbTarget): VerbOutcome {
  const { Loading, RollingBack } = rolloutStates
  const { state } = rollout
  if (state > RollingBack) return { refused: 'it has ended' }
  if (state === RollingBack) return { refused: 'it is already rolling back' }
  if (state === Loading)
    return { refused: 'it is still loading; cancel the deploy of the VCL group instead' }
  return verbs[verb](rollout)
}

const isPaused = ({ state }: VerbTarget): boolean => state === rolloutStates.Paused

const verbs: Readonly<Record<RolloutVerb, (rollout: VerbTarget) => VerbOutcome>> = {
  pause: (rollout) => (isPaused(rollout) ? { refused: 'it is already paused' } : 'pause'),
  resume: (rollout) => (isPaused(rollout) ? 'bakeAnew' : { refused: 'it is not paused' }),
  abort: () => 'rollBack',
  advance: ({ state, wave, waves }) => {
    if (state === rolloutStates.Switching)
      return { refused: 'its wave is still switching; only a bake or a pause can be advanced' }
    return wave < waves.length ? 'next' : 'succeed'
  },
}
