/** The expiry of a certificate, highlighted if it is near or past. */
import { StateChip } from '../../parts/state-chip.js'
import { now, Time } from '../../parts/time.js'
import { judgeExpiry } from './judge-expiry.js'

/** ISO 8601, as in the API. */
interface ExpiryProps {
  readonly at: string
}

export function ExpiryChip({ at }: ExpiryProps) {
  const note = judgeExpiry(Date.parse(at), now.value)
  return (
    note && (
      <span class="certificate-expiry" title={at}>
        <StateChip state={note.words} tone={note.tone} />
      </span>
    )
  )
}

/** In a table cell: either the chip or the time. */
export function ExpiryCell({ at }: ExpiryProps) {
  return judgeExpiry(Date.parse(at), now.value) ? <ExpiryChip at={at} /> : <Time at={at} />
}
