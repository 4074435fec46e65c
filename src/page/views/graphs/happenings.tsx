/** Lists the events in the range, the same as the marks in the charts. */
import { Link } from 'wouter-preact'
import { Time, toIso } from '../../parts/time.js'
import type { Happening } from './describe-marks.js'

interface HappeningsProps {
  /** Newest first. */
  readonly of: readonly Happening[]
  /** True if there are more events than listed. */
  readonly isCut: boolean
}

const titles = { change: 'deploys', removal: 'invalidations', outage: 'outages' } as const

export function Happenings({ of, isCut }: HappeningsProps) {
  if (of.length === 0) return null
  return (
    <details class="graphs-events">
      <summary>{summarize(of)}</summary>
      <ul class="plain-list" aria-label="Events in this range">
        {of.map(({ at, tone, text, href }, place) => (
          <li key={place}>
            <span class={`graphs-mark graphs-mark-${tone}`} />
            <Time at={toIso(at)} /> {href === null ? text : <Link href={href}>{text}</Link>}
          </li>
        ))}
        {isCut && <li class="quiet">Only the newest are listed: choose a shorter range.</li>}
      </ul>
    </details>
  )
}

/** "5 events in this range: 3 deploys, 2 outages". */
function summarize(happenings: readonly Happening[]): string {
  const parts = (['change', 'removal', 'outage'] as const).flatMap((tone) => {
    const count = happenings.filter((one) => one.tone === tone).length
    const title = count === 1 ? titles[tone].slice(0, -1) : titles[tone]
    return count === 0 ? [] : [`${count} ${title}`]
  })
  return `In this range: ${parts.join(', ')}`
}
