/** What went wrong, in the API's words, with the trace id to look it up by. */
import type { CallError } from '../api/http.js'
import { Button } from './button.js'
import { copyText } from './copy.js'

export interface ErrorNoteProps {
  readonly error: CallError
  readonly onRetry?: () => void
}

export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const { errorMsg, traceId, retryAfterSeconds } = error
  return (
    <div class="error-note" role="alert">
      <p class={`error-note-text${errorMsg.includes('\n') ? ' error-note-lines' : ''}`}>
        {errorMsg}
        {retryAfterSeconds !== null && ` (again in ${retryAfterSeconds} s)`}
      </p>
      {(traceId !== '' || onRetry) && (
        <div class="error-note-foot">
          {traceId !== '' && (
            <>
              <span class="error-note-trace">
                Trace <code>{traceId}</code>
              </span>
              <Button
                kind="quiet"
                icon="copy"
                label="Copy the trace id"
                onClick={() => void copyText(traceId)}
              />
            </>
          )}
          {onRetry && (
            <Button icon="refresh" onClick={onRetry}>
              Try again
            </Button>
          )}
        </div>
      )}
    </div>
  )
}
