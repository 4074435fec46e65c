/** The status of a cache: the cache itself, its configuration, its placements, its last panic. */
import { agent as agentResource, type Agent } from '../../../resources/agent.js'
import { Labels } from '../../parts/state-chip.js'
import { Facts } from '../../parts/facts.js'
import { listPlainFacts } from '../../parts/plain-fields.js'
import { unknown } from '../../parts/quantity.js'
import { Time } from '../../parts/time.js'
import { mayRead } from '../../session/rights.js'
import type { SectionProps } from './cache.js'
import { ConfigPanel } from './config-panel.js'
import { FiguresPanel } from './figures.js'
import { PanicPanel } from './panic.js'
import { PlacedPanel } from './placed.js'

export function StatusSection({ agent }: SectionProps) {
  return (
    <div class="stack">
      {agent.engineError !== null && (
        <div class="panel cache-wrong" role="status">
          <h2>The cache is failing</h2>
          <p class="cache-words">{agent.engineError}</p>
        </div>
      )}
      {mayRead('stats') && <FiguresPanel agent={agent} />}
      <div class="panels">
        <CachePanel agent={agent} />
        <ConfigPanel agent={agent} />
        {mayRead('vclgroup') && <PlacedPanel agent={agent} />}
        <PanicPanel agent={agent} />
      </div>
    </div>
  )
}

function CachePanel({ agent }: { readonly agent: Agent }) {
  const { tags, organization, engineState, lastEngineState } = agent
  return (
    <section class="panel" aria-label="Cache">
      <h2>Cache</h2>
      <Facts
        of={[
          ['Address', `${agent.engineHost}:${agent.enginePort}`],
          [
            'Engine',
            `${agent.engineProduct} ${agent.engineVersion} (${engineState ?? `last seen ${lastEngineState}`})`,
          ],
          ['Agent', agent.agentVersion],
          [`${agent.stateName} for`, <Time at={agent.lastStateChange} isDuration />],
          ['Enrolled', <Time at={agent.created} />],
          ['Organization', organization?.name ?? 'all organizations'],
          ['Tags', tags.length === 0 ? unknown : <Tags tags={tags} />],
          ...listPlainFacts(agent, agentResource),
        ]}
      />
    </section>
  )
}

function Tags({ tags }: Pick<Agent, 'tags'>) {
  return (
    <span class="cache-tags">
      <Labels words={tags.map(({ name }) => name)} />
    </span>
  )
}
