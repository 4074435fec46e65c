/** Whether a cache holds what it should, in a word: values in, values out. */
import type { Agent } from '../../../resources/agent.js'

interface Judgement {
  readonly word: 'In sync' | 'Healed' | 'Drifted' | 'Applying' | 'Waiting' | 'Failed' | 'Unknown'
  readonly tone: 'good' | 'calm' | 'busy' | 'warn' | 'bad'
  /** More than the word, for a tooltip. */
  readonly why: string
}

export type Judged = Pick<Agent, 'state' | 'engineState' | 'config' | 'drift'>

/** What is wrong now counts more than what was put right; of a cache that is not reached nothing is known. */
export function judgeConfig({ state, engineState, config, drift }: Judged): Judgement {
  const { desired, lastAttempted, effective } = config
  const why = `last known: ${formatRevision(effective.revision)}`
  const unknown: Judgement = { word: 'Unknown', tone: 'calm', why }
  if (state === 3) return unknown
  const isFailed = lastAttempted.result !== null && lastAttempted.result !== 'applied'
  if (isFailed && lastAttempted.revision === desired.revision)
    return { word: 'Failed', tone: 'bad', why: lastAttempted.error ?? lastAttempted.result }
  if (engineState === 'unreachable') return unknown
  if (drift && drift.healedAt === null)
    return { word: 'Drifted', tone: 'warn', why: drift.foreign.join(', ') }
  if (desired.revision !== effective.revision) return judgeBehind(state, desired.revision)
  if (drift) return { word: 'Healed', tone: 'calm', why: drift.foreign.join(', ') }
  return { word: 'In sync', tone: 'good', why: 'It holds what it should.' }
}

/** A locked one stays behind. */
function judgeBehind(state: Agent['state'], wanted: number | null): Judgement {
  const why = `${formatRevision(wanted)} is wanted`
  return state === 5
    ? { word: 'Waiting', tone: 'warn', why: `${why}; it is locked: unlock it first` }
    : { word: 'Applying', tone: 'busy', why }
}

/** The ill ones first. */
export function rankConfig(agent: Judged): number {
  return ranked.indexOf(judgeConfig(agent).word)
}

const ranked: readonly Judgement['word'][] = [
  ...(['Failed', 'Drifted', 'Waiting', 'Applying', 'Unknown', 'Healed', 'In sync'] as const),
]

export function formatRevision(revision: number | null): string {
  return revision === null ? 'no revision' : `revision ${revision}`
}
