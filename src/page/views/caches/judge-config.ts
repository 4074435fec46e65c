/** Returns in a word whether a cache has its desired configuration; pure functions. */
import type { Agent } from '../../../resources/agent.js'

interface Judgement {
  readonly word:
    | 'In sync'
    | 'Healed'
    | 'Drifted'
    | 'Applying'
    | 'Waiting'
    | 'Failed'
    | 'Not reported'
  readonly tone: 'good' | 'calm' | 'busy' | 'warn' | 'bad'
  /** A longer explanation, for a tooltip. */
  readonly why: string
}

export type Judged = Pick<Agent, 'state' | 'engineState' | 'config' | 'drift'>

/** A current problem precedes one that was fixed; for an unreachable cache the state is unknown. */
export function judgeConfig({ state, engineState, config, drift }: Judged): Judgement {
  const { desired, lastAttempted, effective } = config
  if (state === 3) return judgeUnreported('the agent is offline', effective.revision)
  const isFailed = lastAttempted.result !== null && lastAttempted.result !== 'applied'
  if (isFailed && lastAttempted.revision === desired.revision)
    return { word: 'Failed', tone: 'bad', why: lastAttempted.error ?? lastAttempted.result }
  if (engineState === 'unreachable')
    return judgeUnreported('the agent cannot reach the cache', effective.revision)
  if (drift && drift.healedAt === null)
    return { word: 'Drifted', tone: 'warn', why: drift.foreign.join(', ') }
  if (desired.revision !== effective.revision) return judgeBehind(state, desired.revision)
  if (drift) return { word: 'Healed', tone: 'calm', why: drift.foreign.join(', ') }
  return { word: 'In sync', tone: 'good', why: 'The cache has its desired configuration.' }
}

function judgeUnreported(reason: string, last: number | null): Judgement {
  const why = `${reason}; last reported: ${formatRevision(last)}`
  return { word: 'Not reported', tone: 'calm', why }
}

/** A locked cache does not apply the desired revision. */
function judgeBehind(state: Agent['state'], wanted: number | null): Judgement {
  const why = `${formatRevision(wanted)} is desired`
  return state === 5
    ? { word: 'Waiting', tone: 'warn', why: `${why}; the agent is locked: unlock it first` }
    : { word: 'Applying', tone: 'busy', why }
}

/** Problem states come first. */
export function rankConfig(agent: Judged): number {
  return ranked.indexOf(judgeConfig(agent).word)
}

const ranked: readonly Judgement['word'][] = [
  ...(['Failed', 'Drifted', 'Waiting', 'Applying', 'Not reported', 'Healed', 'In sync'] as const),
]

export function formatRevision(revision: number | null): string {
  return revision === null ? 'no config revision' : `config revision ${revision}`
}
