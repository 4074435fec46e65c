/** The columns of the list of caches. */
import { agent, type Agent } from '../../../resources/agent.js'
import { formatRate, formatShare } from '../../parts/quantity.js'
import { plainColumns } from '../../parts/plain-fields.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { CacheName } from './cache-name.js'
import { ConfigChip } from './config-chip.js'
import { rankConfig } from './judge-config.js'
import { HitRatio, RequestRate } from './rows-sampled.js'
import type { Rates } from './sort-caches.js'

type ReadRates = ReadonlyMap<number, Rates> | null

/**
 * With the rates of all caches the rows are sorted by them and show them; without, visible rows show theirs as they are
 * each second.
 */
export function listColumns(rates: ReadRates): readonly Column<Agent>[] {
  return [...named, ...listRates(rates), ...described]
}

const named: readonly Column<Agent>[] = [
  {
    title: 'Name',
    show: ({ name }) => <CacheName name={name} />,
    sortBy: ({ name }) => name,
  },
  {
    title: 'State',
    width: '7.75rem',
    show: ({ stateName }) => <StateChip state={stateName} />,
    sortBy: ({ state }) => state,
  },
]

function listRates(rates: ReadRates): readonly Column<Agent>[] {
  return [
    {
      title: 'Hit ratio',
      width: '6.75rem',
      from: 'medium',
      isEnd: true,
      show: ({ id }) => (rates ? formatShare(rates.get(id)?.hitRatio, 1) : <HitRatio id={id} />),
      sortBy: ({ id }) => rates?.get(id)?.hitRatio ?? null,
    },
    {
      title: 'Requests',
      width: '6.75rem',
      from: 'medium',
      isEnd: true,
      show: ({ id }) => (rates ? formatRate(rates.get(id)?.requests) : <RequestRate id={id} />),
      sortBy: ({ id }) => rates?.get(id)?.requests ?? null,
    },
  ]
}

const described: readonly Column<Agent>[] = [
  {
    title: 'Config',
    width: '7.75rem',
    from: 'medium',
    show: (one) => <ConfigChip agent={one} />,
    sortBy: rankConfig,
  },
  {
    title: 'Tags',
    width: '17%',
    from: 'wide',
    show: ({ tags }) => (
      <span class="caches-tags">
        <Labels words={tags.map(({ name }) => name)} />
      </span>
    ),
  },
  {
    title: 'Version',
    width: '9.25rem',
    from: 'wide',
    show: ({ engineProduct, engineVersion }) => `${engineProduct} ${engineVersion}`,
    sortBy: ({ engineProduct, engineVersion }) => `${engineProduct} ${engineVersion}`,
  },
  ...plainColumns<Agent>(agent),
]

/** For those who may not read statistics. */
export const columnsWithoutRates = [...named, ...described]

const ratesTitles: readonly string[] = listRates(null).map(({ title }) => title)

export function isOfRates(title: string): boolean {
  return ratesTitles.includes(title)
}
