/** A state by its API name, as a colour and as a word, so that neither alone carries the meaning. */
import { toneOfState, type Tone } from './tone-of-state.js'

export type { Tone } from './tone-of-state.js'

export function StateChip({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`chip tone-${tone ?? toneOfState(state)}`}>{state}</span>
}

/** Words that are not states: tags, versions. */
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
