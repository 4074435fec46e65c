/** Whether a cache holds what it should, in a word: values in, values out. */
import type { Agent } from '../../api/agent.js'

export interface Judgement {
  readonly word: 'In sync' | 'Healed' | 'Drifted' | 'Applying' | 'Waiting' | 'Failed' | 'Unknown'
  readonly tone: 'good' | 'calm' | 'busy' | 'warn' | 'bad'
  /** More than the word, for who asks. */
  readonly why: string
}

export type Judged = Pick<Agent, 'state' | 'config' | 'drift'>

/** What is wrong now counts more than what was put right; of a cache that is away nothing is known. */
export function judgeConfig({ state, config, drift }: Judged): Judgement {
  const { desired, lastAttempted, effective } = config
  if (state === 3)
    return { word: 'Unknown', tone: 'calm', why: `last known: ${sayRevision(effective.revision)}` }
  const isFailed = lastAttempted.result !== null && lastAttempted.result !== 'applied'
  if (isFailed && lastAttempted.revision === desired.revision)
    return { word: 'Failed', tone: 'bad', why: lastAttempted.error ?? lastAttempted.result }
  if (drift && drift.healedAt === null)
    return { word: 'Drifted', tone: 'warn', why: drift.foreign.join(', ') }
  if (desired.revision !== effective.revision && state === 5)
    return { word: 'Waiting', tone: 'warn', why: 'It is locked: nothing is applied until it is unlocked.' }
  if (desired.revision !== effective.revision)
    return { word: 'Applying', tone: 'busy', why: `${sayRevision(desired.revision)} is wanted` }
  if (drift) return { word: 'Healed', tone: 'calm', why: drift.foreign.join(', ') }
  return { word: 'In sync', tone: 'good', why: 'It holds what it should.' }
}

/** The ill ones first. */
export function rankConfig(agent: Judged): number {
  return ranked.indexOf(judgeConfig(agent).word)
}

const ranked: readonly Judgement['word'][] = [
  ...(['Failed', 'Drifted', 'Waiting', 'Applying', 'Unknown', 'Healed', 'In sync'] as const),
]

export function sayRevision(revision: number | null): string {
  return revision === null ? 'no revision' : `revision ${revision}`
}
