/** The numbers of caches, groups and backends in each state: a bar and words, each a link to its list. */
import { Link } from 'wouter-preact'
import type { Overview } from '../../../resources/overview.js'
import { Icon, type IconName } from '../../parts/icon.js'
import { formatCount } from '../../parts/quantity.js'
import { toneOfState } from '../../parts/tone-of-state.js'
import { listCounts, type Count } from './list-counts.js'

export function States({ overview }: { readonly overview: Overview }) {
  const { agents, groups, backends } = overview
  return (
    <ul class="overview-states" aria-label="States">
      {agents && <Part title="Caches" icon="cache" home="/caches" counts={listCounts(agents)} />}
      {groups && <Part title="Groups" icon="group" home="/groups" counts={listCounts(groups)} />}
      {backends && (
        <Part title="Backends" icon="backend" home="/backends" counts={listCounts(backends)} />
      )}
    </ul>
  )
}

interface PartProps {
  readonly title: string
  readonly icon: IconName
  readonly home: string
  readonly counts: readonly Count[]
}

function Part({ title, icon, home, counts }: PartProps) {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  return (
    <li class="panel overview-state">
      <Link href={home} class="overview-state-title">
        <Icon name={icon} />
        {title}
        <b>{formatCount(total)}</b>
      </Link>
      <div class="overview-bar" aria-hidden="true">
        {counts.map(({ name, count }) => (
          <span key={name} class={`tone-${toneOfState(name)}`} style={{ flexGrow: count }} />
        ))}
      </div>
      <p class="overview-counts">
        {counts.map(({ name, count }) => (
          <Link
            key={name}
            href={home === '/backends' ? home : `${home}?state=${name}`}
            class={`overview-count overview-${toneOfState(name)}`}
          >
            <b>{formatCount(count)}</b> {name}
          </Link>
        ))}
        {counts.length === 0 && <span class="quiet">None yet</span>}
      </p>
    </li>
  )
}
