/** What went wrong, in the API's words, with the trace id to look it up by. */
import type { CallError } from '../api/http.js'
import { Button } from './button.js'
import { startSentence } from './start-sentence.js'
import { Trace } from './trace.js'

interface ErrorNoteProps {
  readonly error: CallError
  readonly onRetry?: () => void
  /** What trying again is called here. */
  readonly retryTitle?: string
}

export function ErrorNote({ error, onRetry, retryTitle = 'Try again' }: ErrorNoteProps) {
  const { errorMsg, traceId, retryAfterSeconds } = error
  // They may be many, and are scrolled.
  const hasLines = errorMsg.includes('\n')
  return (
    <div class="error-note tone-bad" role="alert">
      <p
        class={`error-note-text${hasLines ? ' error-note-lines' : ''}`}
        tabIndex={hasLines ? 0 : undefined}
      >
        {startSentence(errorMsg)}
        {retryAfterSeconds !== null && ` (again in ${retryAfterSeconds} s)`}
      </p>
      {(traceId !== '' || onRetry) && (
        <div class="error-note-foot">
          {traceId !== '' && (
            <span class="error-note-trace">
              Trace <Trace id={traceId} />
            </span>
          )}
          {onRetry && (
            <Button icon="refresh" onClick={onRetry}>
              {retryTitle}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}
