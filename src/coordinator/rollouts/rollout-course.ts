/** The record of a rollout after a step, as it is written before the step takes effect. Pure. */
import { rolloutStates, type GateVerdict } from '../../resources/rollout.js'
import type { RolloutRecord, WaveRecord } from '../fleet/rollout-queries.js'
import type { RolloutCourse, RolloutStep } from './next-step.js'

/** The part of a rollout that decisions need. */
export function toCourse(rollout: RolloutRecord): RolloutCourse {
  const { state, wave, waves, policy, isAborted } = rollout
  return {
    state,
    wave,
    policy,
    isAborted,
    waves: waves.map(({ agents, holds }) => ({ agentIds: agents.map(({ id }) => id), holds })),
  }
}

/** All steps but waiting, plus `begin` of the deploy and `bakeAnew` after a pause. */
export type CourseStep =
  | Exclude<RolloutStep, { readonly do: 'wait' }>
  | { readonly do: 'begin' }
  | { readonly do: 'bakeAnew' }

export function moveOn<Record extends RolloutRecord>(
  rollout: Record,
  step: CourseStep,
  now: number,
): Record {
  const { Switching, Baking, Paused, RollingBack, Succeeded } = rolloutStates
  switch (step.do) {
    case 'begin':
      return beginWave(rollout, 1, now)
    case 'bake':
      return { ...changeWave(rollout, { switchedAt: now }), state: Baking, bakedSeconds: 0 }
    case 'bakeAnew':
      return {
        ...changeWave(rollout, { verdict: null, switchedAt: null, endedAt: null }),
        state: Switching,
        reason: null,
        bakedSeconds: 0,
      }
    case 'next':
      return beginWave(passWave(rollout, step.verdict, now), rollout.wave + 1, now)
    case 'succeed':
      return {
        ...passWave(rollout, step.verdict, now),
        state: Succeeded,
        endedAt: now,
        reason: null,
      }
    case 'pause':
      return {
        ...changeWave(rollout, { verdict: step.verdict, pausedAt: now }),
        state: Paused,
        reason: step.reason,
      }
    case 'rollBack':
      return {
        ...(step.isAborted === true
          ? changeWave(rollout, { endedAt: now })
          : endWave(rollout, 'fail', now)),
        state: RollingBack,
        isAborted: step.isAborted ?? false,
        reason: step.reason,
      }
    case 'ban':
      return rollout
    case 'end':
      return { ...rollout, state: rolloutStates[step.state], endedAt: now }
  }
}

function beginWave<Record extends RolloutRecord>(
  rollout: Record,
  wave: number,
  now: number,
): Record {
  const begun = { ...rollout, wave, state: rolloutStates.Switching, bakedSeconds: 0, reason: null }
  return changeWave(begun, { startedAt: now })
}

/** A wave that does not bake was switching until now. */
function passWave<Record extends RolloutRecord>(
  rollout: Record,
  verdict: GateVerdict,
  now: number,
): Record {
  const isSwitching = rollout.state === rolloutStates.Switching
  const switched = isSwitching ? changeWave(rollout, { switchedAt: now }) : rollout
  return endWave(switched, verdict, now)
}

function endWave<Record extends RolloutRecord>(
  rollout: Record,
  verdict: GateVerdict,
  now: number,
): Record {
  return changeWave(rollout, { endedAt: now, verdict })
}

/** Changes the wave that began last. */
function changeWave<Record extends RolloutRecord>(
  rollout: Record,
  change: Partial<WaveRecord>,
): Record {
  const waves = rollout.waves.map((wave, at) =>
    at === rollout.wave - 1 ? { ...wave, ...change } : wave,
  )
  return { ...rollout, waves }
}
