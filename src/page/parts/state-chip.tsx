/** A state as the API names it: a colour and the word, so that neither is needed alone. */
import { toneOfState, type Tone } from './tone-of-state.js'

export type { Tone } from './tone-of-state.js'

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
