/** What a state means at a glance. */

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'calm'

const tones: Readonly<Record<Tone, readonly string[]>> = {
  good: ['running', 'active', 'applied', 'completed', 'done', 'ok', 'healthy', 'adopted'],
  warn: ['failing', 'degraded', 'retrying', 'partial', 'expired', 'locked', 'orphan', 'refused'],
  bad: ['down', 'error', 'failed', 'sick', 'unreachable'],
  busy: ['deploying', 'applying', 'wanted', 'pending', 'loading'],
  calm: ['readonly', 'inactive', 'waiting', 'cancelled', 'stopped', 'unknown', 'staged'],
}

const toneOf = new Map(
  Object.entries(tones).flatMap(([tone, words]) => words.map((word) => [word, tone as Tone])),
)

export function toneOfState(state: string): Tone {
  return toneOf.get(state.toLowerCase()) ?? 'calm'
}
