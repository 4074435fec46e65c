/** An error with the API's message and its trace id. */
import type { CallError } from '../api/http.js'
import { Button } from './button.js'
import { startSentence } from './start-sentence.js'
import { Trace } from './trace.js'

interface ErrorNoteProps {
  readonly error: CallError
  readonly onRetry?: () => void
  /** Label of the retry button. */
  readonly retryTitle?: string
}

export function ErrorNote({ error, onRetry, retryTitle = 'Try again' }: ErrorNoteProps) {
  const { errorMsg, traceId, retryAfterSeconds } = error
  // A message of many lines scrolls.
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
