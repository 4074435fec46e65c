/** What a cache does now, each second. */
import { useSamples } from '../../api/samples.js'
import type { Agent } from '../../../resources/agent.js'
import { sayBytes, sayCount, sayRate, sayShare } from '../../parts/quantity.js'

export function FiguresPanel({ agent }: { readonly agent: Agent }) {
  const values = useSamples([agent.id]).get(agent.id)?.values ?? {}
  const hits = values['MAIN.cache_hit']
  const misses = values['MAIN.cache_miss']
  const looked = hits == null || misses == null ? null : hits + misses
  const figures = [
    ['Hit ratio', sayShare(hits, looked)],
    ['Requests', sayRate(values['MAIN.client_req'])],
    ['To backends', sayRate(values['MAIN.backend_req'])],
    ['Failed fetches', sayRate(values['MAIN.fetch_failed'])],
    ['Objects', sayCount(values['MAIN.n_object'])],
    ['Memory used', sayBytes(values['SMA.s0.g_bytes'])],
    ['Threads', sayCount(values['MAIN.threads'])],
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
