/** When a certificate expires; plainly said when that is soon or over. */
import { StateChip } from '../../parts/state-chip.js'
import { now, Time } from '../../parts/time.js'
import { judgeExpiry } from './judge-expiry.js'

/** ISO 8601, as the API has it. */
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

/** In a cell: one of both. */
export function ExpiryCell({ at }: ExpiryProps) {
  return judgeExpiry(Date.parse(at), now.value) ? <ExpiryChip at={at} /> : <Time at={at} />
}
