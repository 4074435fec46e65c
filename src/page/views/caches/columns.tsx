/** The columns of the list of caches. */
import { agent, type Agent } from '../../../resources/agent.js'
import { plainColumns } from '../../parts/plain-fields.js'
import { formatRate, formatShare } from '../../parts/quantity.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { CacheName } from './cache-name.js'
import { ConfigChip } from './config-chip.js'
import { rankCache } from './judge-cache.js'
import { rankConfig } from './judge-config.js'
import { ReasonLine } from './reason.js'
import { HitRatio, RequestRate } from './rows-sampled.js'
import type { Rates } from './sort-caches.js'
import { Sparkline } from './sparkline.js'

type ReadRates = ReadonlyMap<number, Rates> | null

/**
 * If the rates of all caches are given, rows can be sorted by them and show them; without, visible rows show live rates,
 * updated every second.
 */
export function listColumns(rates: ReadRates): readonly Column<Agent>[] {
  return [...named, ...listRates(rates), trend, ...described]
}

const named: readonly Column<Agent>[] = [
  {
    title: 'Name',
    width: '22%',
    show: ({ name }) => <CacheName name={name} />,
    sortBy: ({ name }) => name,
  },
  {
    title: 'State',
    width: '7.75rem',
    show: ({ stateName }) => <StateChip state={stateName} />,
    sortBy: rankCache,
  },
  {
    title: 'Reason',
    from: 'medium',
    show: (one) => <ReasonLine agent={one} />,
  },
]

function listRates(rates: ReadRates): readonly Column<Agent>[] {
  return [
    {
      title: 'Hit ratio',
      width: '5.75rem',
      from: 'medium',
      isEnd: true,
      show: (one) => (rates ? formatShare(rates.get(one.id)?.hitRatio, 1) : <HitRatio of={one} />),
      sortBy: ({ id }) => rates?.get(id)?.hitRatio ?? null,
    },
    {
      title: 'Requests',
      width: '6.25rem',
      from: 'medium',
      isEnd: true,
      show: (one) => (rates ? formatRate(rates.get(one.id)?.requests) : <RequestRate of={one} />),
      sortBy: ({ id }) => rates?.get(id)?.requests ?? null,
    },
  ]
}

const trend: Column<Agent> = {
  title: '15 minutes',
  width: '7rem',
  from: 'wide',
  show: (one) => <Sparkline of={one} />,
}

const described: readonly Column<Agent>[] = [
  {
    title: 'Tags',
    width: '12%',
    from: 'widest',
    show: ({ tags }) => (
      <span class="caches-tags">
        <Labels words={tags.map(({ name }) => name)} />
      </span>
    ),
  },
  {
    title: 'Config',
    width: '8.75rem',
    from: 'widest',
    show: (one) => <ConfigChip agent={one} />,
    sortBy: rankConfig,
  },
  {
    title: 'Version',
    width: '9.25rem',
    from: 'widest',
    show: ({ engineProduct, engineVersion }) => `${engineProduct} ${engineVersion}`,
    sortBy: ({ engineProduct, engineVersion }) => `${engineProduct} ${engineVersion}`,
  },
  ...plainColumns<Agent>(agent),
]

/** For users who may not read statistics. */
export const columnsWithoutRates = [...named, ...described]

const ratesTitles: readonly string[] = listRates(null).map(({ title }) => title)

export function isOfRates(title: string): boolean {
  return ratesTitles.includes(title)
}
