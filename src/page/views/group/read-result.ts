/** The result of an entry of a group's history, as the API tells it. Values in, values out. */
import { startSentence } from '../../parts/start-sentence.js'

/** Of a rollout that went back: with the reason behind it. */
const rolledBack = 'rolled back: '

export function nameResult(result: string): 'ok' | 'failed' | 'rolled back' {
  if (result === 'ok') return 'ok'
  return result.startsWith(rolledBack) ? 'rolled back' : 'failed'
}

/** In a line; null: it needs none. */
export function findReason(result: string): string | null {
  if (result === 'ok') return null
  const reason = result.startsWith(rolledBack) ? result.slice(rolledBack.length) : result
  return startSentence(reason.split('\n', 1)[0] ?? '')
}
