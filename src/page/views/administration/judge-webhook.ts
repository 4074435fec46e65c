/** Returns the state of a webhook in a word. */
import type { Webhook } from '../../../resources/webhook.js'
import type { Tone } from '../../parts/state-chip.js'

export function judgeWebhook({ enabled, failing }: Pick<Webhook, 'enabled' | 'failing'>): {
  readonly words: string
  readonly tone: Tone
} {
  if (failing) return { words: enabled ? 'Failing' : 'Given up', tone: 'bad' }
  return enabled ? { words: 'Enabled', tone: 'good' } : { words: 'Disabled', tone: 'warn' }
}
