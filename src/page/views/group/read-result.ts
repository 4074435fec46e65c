/** Reads the result of a history entry of a group, as the API reports it. Pure functions. */
import { startSentence } from '../../parts/start-sentence.js'

/** Prefix of the result of a rolled-back rollout; the reason follows. */
const rolledBack = 'rolled back: '

export function nameResult(result: string): 'ok' | 'failed' | 'rolled back' {
  if (result === 'ok') return 'ok'
  return result.startsWith(rolledBack) ? 'rolled back' : 'failed'
}

/** Returns the reason in one line; null if none is needed. */
export function findReason(result: string): string | null {
  if (result === 'ok') return null
  const reason = result.startsWith(rolledBack) ? result.slice(rolledBack.length) : result
  return startSentence(reason.split('\n', 1)[0] ?? '')
}
