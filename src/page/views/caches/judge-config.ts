/** Whether a cache holds what it should, in a word: values in, values out. */
import type { Agent } from '../../api/agent.js'

export interface Judgement {
  readonly word: 'In sync' | 'Healed' | 'Drifted' | 'Applying' | 'Failed'
  readonly tone: 'good' | 'calm' | 'busy' | 'warn' | 'bad'
  /** More than the word, for who asks. */
  readonly why: string
}

/** What is wrong now counts more than what was put right. */
export function judgeConfig({ config, drift }: Pick<Agent, 'config' | 'drift'>): Judgement {
  const { desired, lastAttempted, effective } = config
  const isFailed = lastAttempted.result !== null && lastAttempted.result !== 'applied'
  if (isFailed && lastAttempted.revision === desired.revision)
    return { word: 'Failed', tone: 'bad', why: lastAttempted.error ?? lastAttempted.result ?? '' }
  if (drift && drift.healedAt === null)
    return { word: 'Drifted', tone: 'warn', why: drift.foreign.join(', ') }
  if (desired.revision !== effective.revision)
    return { word: 'Applying', tone: 'busy', why: `revision ${desired.revision ?? 0} is wanted` }
  if (drift) return { word: 'Healed', tone: 'calm', why: drift.foreign.join(', ') }
  return { word: 'In sync', tone: 'good', why: 'It holds what it should.' }
}

/** The ill ones first. */
export function rankConfig(agent: Pick<Agent, 'config' | 'drift'>): number {
  return ['Failed', 'Drifted', 'Applying', 'Healed', 'In sync'].indexOf(judgeConfig(agent).word)
}
