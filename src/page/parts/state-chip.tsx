/** A state as the API names it: a colour and the word, so that neither is needed alone. */

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

export function StateChip({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`chip tone-${tone ?? toneOfState(state)}`}>{state}</span>
}

/** Tags, versions: words that are not states. */
export function Labels({ words }: { readonly words: readonly string[] }) {
  return (
    <span class="labels" title={words.join(', ')}>
      {words.map((word) => (
        <span class="label" key={word}>
          {word}
        </span>
      ))}
    </span>
  )
}
