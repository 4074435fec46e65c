/** Below the fields while the user fills them in: the affected caches, warnings, errors. */
import type { InvalidationPreview } from '../../../resources/invalidation.js'
import { startSentence } from '../../parts/start-sentence.js'
import type { Preview } from './use-preview.js'

interface PreviewNoteProps {
  readonly preview: Preview
  /** The error is shown at its field. */
  readonly isShownAtField: boolean
  /** True if there is something to preview. */
  readonly isReady: boolean
}

export function PreviewNote({
  preview: { value, error },
  isShownAtField,
  isReady,
}: PreviewNoteProps) {
  return (
    <div class="invalidation-preview" role="status">
      {!isReady ? (
        <p class="quiet">Enter what to remove and where to see which caches it would reach.</p>
      ) : error ? (
        <p class={isShownAtField ? 'quiet' : 'field-wrong'}>
          {isShownAtField
            ? 'Correct it to see which caches it would reach.'
            : startSentence(error.errorMsg)}
        </p>
      ) : value ? (
        <Reach {...value} />
      ) : (
        <p class="quiet">Checking which caches it would reach…</p>
      )}
    </div>
  )
}

function Reach(preview: InvalidationPreview) {
  return (
    <>
      <p>{describeReach(preview)}</p>
      {preview.warnings.length > 0 && (
        <ul class="invalidation-warnings">
          {preview.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </>
  )
}

function describeReach({ total, reached, away }: InvalidationPreview): string {
  const caches = total === 1 ? 'cache' : 'caches'
  if (total === 0) return 'The target has no caches now: nothing would be sent.'
  if (reached === 0)
    return `Nothing would be sent: none of the ${total} ${caches} of the target has something to remove.`
  const now = `${reached - away} ${reached - away === 1 ? 'cache' : 'caches'} now`
  return away === 0
    ? `${now}.`
    : `${now}, ${away} when ${away === 1 ? 'it reconnects' : 'they reconnect'}.`
}
