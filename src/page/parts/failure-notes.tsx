/** Failures on caches: each distinct message once, in full, with its file and line. */
import { formatNames } from './format-names.js'
import { groupFailures, type Judged } from './group-failures.js'

export function FailureNotes({ places }: { readonly places: readonly Judged[] }) {
  return groupFailures(places).map(({ error, agents }) => (
    <section class="note tone-bad" key={error} aria-label={`What failed on ${agents[0] ?? ''}`}>
      <p>{formatNames(agents)}:</p>
      <pre tabIndex={0}>{error}</pre>
    </section>
  ))
}
