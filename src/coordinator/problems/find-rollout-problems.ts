/** The problem of a paused rollout: it stops until a user decides how to continue. Pure. */
import { rolloutStates } from '../../resources/rollout.js'
import { quoteText, toConcerned, type Finding } from './make-problem.js'

interface JudgedRollout {
  readonly id: number
  readonly state: number
  readonly reason: string | null
  /** Whether a freeze holds it. */
  readonly isHeld: boolean
  readonly pausedAt: number
  readonly group: { readonly id: number; readonly name: string }
}

export function findRolloutProblems(judged: JudgedRollout): Finding[] {
  const { id, state, reason, isHeld, pausedAt, group } = judged
  if (state !== rolloutStates.Paused) return []
  const remedy = isHeld
    ? `It goes on when the freeze ends; \`rollouts abort ${id}\` goes back at once`
    : `\`rollouts resume ${id}\` bakes its wave anew, \`advance\` goes on with the next one, \`abort\` goes back`
  return [
    {
      code: 'rollout-paused',
      message: `The rollout of ${group.name} is paused: ${quoteText(reason ?? 'no reason was given')}`,
      sinceMs: pausedAt,
      objects: [toConcerned('vclgroup', group)],
      remedy,
    },
  ]
}
