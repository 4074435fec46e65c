/** The tone in which a state is shown. */

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'calm'

const tones: Readonly<Record<Tone, readonly string[]>> = {
  good: [
    ...['running', 'active', 'applied', 'completed', 'done', 'ok', 'healthy', 'adopted'],
    ...['succeeded', 'switched', 'pass'],
  ],
  warn: [
    ...['failing', 'degraded', 'retrying', 'partial', 'expired', 'locked', 'orphan', 'refused'],
    ...['paused', 'rolledback', 'rolled back', 'inconclusive'],
  ],
  bad: ['down', 'error', 'failed', 'sick', 'unreachable', 'fail'],
  busy: [
    ...['deploying', 'applying', 'wanted', 'pending', 'loading'],
    ...['switching', 'baking', 'rollingback', 'rolling back'],
  ],
  calm: ['readonly', 'inactive', 'waiting', 'cancelled', 'stopped', 'unknown', 'staged'],
}

const toneOf = new Map(
  Object.entries(tones).flatMap(([tone, words]) => words.map((word) => [word, tone as Tone])),
)

export function toneOfState(state: string): Tone {
  return toneOf.get(state.toLowerCase()) ?? 'calm'
}
