/** The steps of a request as logged by its cache. */
import { formatCount } from '../../parts/quantity.js'
import type { LoggedPart } from '../../../resources/logged-transaction.js'
import { formatMs, formatText } from './format-request.js'
import { readTimeline } from './read-timeline.js'

interface RequestTimelineProps {
  readonly of: readonly LoggedPart[]
  readonly leftOut: number
}

export function RequestTimeline({ of, leftOut }: RequestTimelineProps) {
  return (
    <>
      <ol class="log-timeline" aria-label="Timeline">
        {readTimeline(of).map(({ title, endsAtMs, records }, place) => (
          <li key={place}>
            <div class="log-step">
              <strong>{title}</strong>
              {endsAtMs !== null && <span class="quiet">{formatMs(endsAtMs)}</span>}
            </div>
            <dl class="log-records">
              {records.map(({ tag, text }, row) => (
                <div key={row}>
                  <dt>{tag}</dt>
                  <dd>{formatText(text)}</dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ol>
      {leftOut > 0 && (
        <p class="quiet">
          {formatCount(leftOut)} {leftOut === 1 ? 'record was' : 'records were'} left out.
        </p>
      )}
    </>
  )
}
