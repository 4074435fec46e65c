/** What a cache does now, each second. */
import { useSamples } from '../../api/samples.js'
import type { Agent } from '../../../resources/agent.js'
import { formatBytes, formatCount, formatRate, formatShare } from '../../parts/quantity.js'

export function FiguresPanel({ agent }: { readonly agent: Agent }) {
  const values = useSamples([agent.id]).get(agent.id)?.values ?? {}
  const hits = values['MAIN.cache_hit']
  const misses = values['MAIN.cache_miss']
  const looked = hits == null || misses == null ? null : hits + misses
  const figures = [
    ['Hit ratio', formatShare(hits, looked)],
    ['Requests', formatRate(values['MAIN.client_req'])],
    ['To backends', formatRate(values['MAIN.backend_req'])],
    ['Failed fetches', formatRate(values['MAIN.fetch_failed'])],
    ['Objects', formatCount(values['MAIN.n_object'])],
    ['Memory used', formatBytes(values['SMA.s0.g_bytes'])],
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
