/** What is wrong with a group, in two words, and how much: values in, values out. */
import type { Group } from '../../../resources/vclgroup.js'
import { severities, worstSeverity, type Problem } from '../../../resources/problem.js'
import type { Tone } from '../../parts/tone-of-state.js'

type Ill = Pick<Group, 'state' | 'problems'>

/** Of the worst problem, which comes first: `load-failed` as "load failed"; null: all is well. */
export function nameProblem([worst]: readonly Problem[]): {
  readonly name: string
  readonly tone: Tone
  /** With its remedy. */
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

/** The worst problem, then the state: the lowest is the worst. */
export function rankGroup({ state, problems }: Ill): number {
  return (severities.error - worstSeverity(problems)) * 10 + state
}
