/** Below the fields while they are filled: whom it would reach, what is odd about it, where it is wrong. */
import type { InvalidationPreview } from '../../../resources/invalidation.js'
import type { Preview } from './use-preview.js'

interface PreviewNoteProps {
  readonly preview: Preview
  /** What is wrong stands at its field. */
  readonly isSaid: boolean
  /** There is something to look at. */
  readonly isReady: boolean
}

export function PreviewNote({ preview: { value, error }, isSaid, isReady }: PreviewNoteProps) {
  return (
    <div class="invalidation-preview" role="status">
      {!isReady ? (
        <p class="quiet">Say what to remove and where; then this tells whom it reaches.</p>
      ) : error ? (
        <p class={isSaid ? 'quiet' : 'field-wrong'}>
          {isSaid ? 'Once it is right, this tells whom it reaches.' : error.errorMsg}
        </p>
      ) : value ? (
        <Reach {...value} />
      ) : (
        <p class="quiet">Looking whom it reaches…</p>
      )}
    </div>
  )
}

function Reach(preview: InvalidationPreview) {
  return (
    <>
      <p>{sayReach(preview)}</p>
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

function sayReach({ total, reached, away }: InvalidationPreview): string {
  const caches = total === 1 ? 'cache' : 'caches'
  if (total === 0) return 'The target has no caches now: nothing would be sent.'
  if (reached === 0)
    return `Nothing would be sent: none of the ${total} ${caches} of the target has something to remove.`
  const later =
    away === 0 ? '' : ` ${away} of them ${away === 1 ? 'is' : 'are'} away and would get it later.`
  return `Reaches ${reached} of ${total} ${caches}.${later}`
}
