/** The list of caches on a narrow screen: each card has all data of a table row. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { Agent } from '../../../resources/agent.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { TableProps } from '../../parts/table.js'
import { useVisibleRows } from '../../parts/use-visible-rows.js'
import { findWindow, sortRows } from '../../parts/visible-rows.js'
import { CacheName } from './cache-name.js'
import { ReasonLine } from './reason.js'
import { Sparkline } from './sparkline.js'

/** Pixels; the same as in caches.css. */
const cardHeight = 124

type CardsProps = Pick<TableProps<Agent>, 'rows' | 'columns' | 'sorting'> & {
  readonly seesRates: boolean
}

export function Cards({ rows, columns, sorting, seesRates }: CardsProps) {
  const place = useRef<HTMLDivElement>(null)
  const first = useSignal(0)
  const count = useSignal(10)
  useVisibleRows(place, cardHeight, { first, count })
  const sorted = useMemo(
    () => sortRows(rows, columns, sorting ?? null),
    [rows, columns, sorting?.title, sorting?.isDescending],
  )
  const { from, to } = findWindow(sorted.length, first.value, count.value)
  return (
    <div class="table-frame table-fills" ref={place} tabIndex={0} role="region" aria-label="Caches">
      <ul
        class="caches-cards"
        style={{
          paddingTop: `${from * cardHeight}px`,
          paddingBottom: `${(sorted.length - to) * cardHeight}px`,
        }}
      >
        {sorted.slice(from, to).map((agent) => (
          <Card key={agent.id} agent={agent} columns={columns} seesRates={seesRates} />
        ))}
      </ul>
    </div>
  )
}

interface CardProps extends Pick<CardsProps, 'columns' | 'seesRates'> {
  readonly agent: Agent
}

function Card({ agent, columns, seesRates }: CardProps) {
  const rates = columns.filter(({ isEnd }) => isEnd)
  return (
    <li class="caches-card">
      <div class="caches-card-line">
        <Link href={`/caches/${agent.id}`} class="table-link caches-card-name">
          <CacheName name={agent.name} />
        </Link>
        <StateChip state={agent.stateName} />
      </div>
      <div class="caches-card-line">
        <ReasonLine agent={agent} />
      </div>
      {seesRates && (
        <div class="caches-card-line">
          {rates.map(({ title, show }) => (
            <span key={title}>
              <span class="quiet">{title}</span> {show(agent)}
            </span>
          ))}
          <Sparkline of={agent} />
        </div>
      )}
      <div class="caches-card-line quiet">
        <Labels words={agent.tags.map(({ name }) => name)} />
        <span class="caches-card-version">
          {agent.engineProduct} {agent.engineVersion}
        </span>
      </div>
    </li>
  )
}
