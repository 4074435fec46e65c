/** Below the fields while they are filled: whom it would reach, what is odd about it, where it is wrong. */
import { findMark, type Draft } from './compose-invalidation.js'
import type { Preview } from './use-preview.js'

export interface PreviewNoteProps {
  readonly preview: Preview
  readonly draft: Draft
  /** There is something to look at. */
  readonly isReady: boolean
}

export function PreviewNote({ preview: { value, error }, draft, isReady }: PreviewNoteProps) {
  const mark = error ? findMark(draft, error.errorMsg) : null
  return (
    <div class="invalidation-preview" role="status">
      {!isReady && (
        <p class="quiet">Say what to remove and where; then this tells whom it reaches.</p>
      )}
      {isReady && !value && !error && <p class="quiet">Looking whom it reaches…</p>}
      {isReady && value && <p>{sayReach(value)}</p>}
      {isReady && value && value.warnings.length > 0 && (
        <ul class="invalidation-warnings">
          {value.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {isReady && error && (
        <>
          <p class="field-wrong">{error.errorMsg}</p>
          {mark && (
            <pre class="invalidation-wrong">
              {mark.before}
              <mark>{mark.at === '' ? ' ' : mark.at}</mark>
              {mark.after}
            </pre>
          )}
        </>
      )}
    </div>
  )
}

function sayReach({ total, reached, away }: NonNullable<Preview['value']>): string {
  const caches = total === 1 ? 'cache' : 'caches'
  if (total === 0) return 'The target has no caches now: nothing would be sent.'
  if (reached === 0)
    return `Nothing would be sent: none of the ${total} ${caches} of the target has something to remove.`
  const later =
    away === 0 ? '' : ` ${away} of them ${away === 1 ? 'is' : 'are'} away and would get it later.`
  return `Reaches ${reached} of ${total} ${caches}.${later}`
}
