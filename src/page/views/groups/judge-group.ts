/** Names the problem of a group in two words, with its severity. Pure functions. */
import type { Group } from '../../../resources/vclgroup.js'
import { severities, worstSeverity, type Problem } from '../../../resources/problem.js'
import type { Tone } from '../../parts/tone-of-state.js'

type Ill = Pick<Group, 'state' | 'problems'>

/** Names the worst problem, which comes first: `load-failed` as "load failed"; null: no problems. */
export function nameProblem([worst]: readonly Problem[]): {
  readonly name: string
  readonly tone: Tone
  /** Includes the remedy. */
  readonly message: string
} | null {
  if (!worst) return null
  const { code, severity, message, remedy } = worst
  return {
    name: code.replaceAll('-', ' '),
    tone: severity === severities.error ? 'bad' : 'warn',
    message: `${message}. ${remedy}`,
  }
}

/** Ranks by the worst problem, then by state; lowest is worst. */
export function rankGroup({ state, problems }: Ill): number {
  return (severities.error - worstSeverity(problems)) * 10 + state
}
