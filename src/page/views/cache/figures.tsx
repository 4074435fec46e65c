/** Current figures of a cache, updated every second; until the first sample, its latest stored values. None while it is Down. */
import type { Agent } from '../../../resources/agent.js'
import { agentStates } from '../../../resources/agent-state.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { useSamples } from '../../api/samples.js'
import { formatBytes, formatCount, formatRate, formatShare } from '../../parts/quantity.js'
import { Time } from '../../parts/time.js'

type Values = Readonly<Record<string, number | null>>

const counters = [
  ...['cache_hit', 'cache_miss', 'client_req', 'backend_req', 'fetch_failed', 'n_object'],
  'threads',
].map((name) => `MAIN.${name}`)
const memory = 'SMA.s0.g_bytes'
/** Older values are not current. */
const newestSeconds = 60

export function FiguresPanel({ agent }: { readonly agent: Agent }) {
  if (agent.state === agentStates.Down)
    return (
      <p class="panel quiet cache-unmeasured">
        <span>
          No figures are available while the agent is Down. Its last heartbeat was{' '}
          <Time at={agent.lastHeartbeat} isAgo />.
        </span>
      </p>
    )
  return <Figures agent={agent} />
}

function Figures({ agent }: { readonly agent: Agent }) {
  const newest = useNewest(agent.id)
  const values = useSamples([agent.id]).get(agent.id)?.values ?? newest
  const hits = values['MAIN.cache_hit']
  const misses = values['MAIN.cache_miss']
  const lookups = hits == null || misses == null ? null : hits + misses
  const figures = [
    ['Hit ratio', formatShare(hits, lookups)],
    ['Requests', formatRate(values['MAIN.client_req'])],
    ['To backends', formatRate(values['MAIN.backend_req'])],
    ['Failed fetches', formatRate(values['MAIN.fetch_failed'])],
    ['Objects', formatCount(values['MAIN.n_object'])],
    ['Memory used', formatBytes(values[memory])],
    ['Threads', formatCount(values['MAIN.threads'])],
  ] as const
  return (
    <dl class="panel cache-figures" aria-label="Now">
      {figures.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface Series {
  readonly counter: string
  readonly values: readonly { readonly value: number }[]
}

/** Read once: samples arrive a moment later. */
function useNewest(id: number): Values {
  const ask = async (signal: AbortSignal): Promise<Values> => {
    const to = Math.floor(Date.now() / 1000)
    const words = new URLSearchParams({ counters: [...counters, memory].join(',') })
    const path = `/agents/${id}/stats/LAST/${to - newestSeconds}/${to}?${words}`
    const outcome = await call<{ readonly stats: readonly Series[] }>('GET', path, { signal })
    if (!outcome.ok) return {}
    return Object.fromEntries(
      outcome.value.stats.map(({ counter, values }) => [counter, values.at(-1)?.value ?? null]),
    )
  }
  return useAnswer<Values>(String(id), {}, ask)
}
