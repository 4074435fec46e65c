/** How a cache is: itself, its configuration in three parts, what is placed on it, its last panic. */
import { agent as agentResource, type Agent } from '../../../resources/agent.js'
import { Labels } from '../../parts/state-chip.js'
import { PlainFacts } from '../../parts/plain-fields.js'
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
      {agent.lockedBecause !== null && (
        <div class="panel cache-wrong" role="status">
          <h2>Locked</h2>
          <p>It {agent.lockedBecause}. Nothing is changed on it until it is unlocked.</p>
        </div>
      )}
      {agent.engineError !== null && (
        <div class="panel cache-wrong" role="status">
          <h2>The cache does not work</h2>
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
  const { tags, organization } = agent
  return (
    <section class="panel" aria-label="Cache">
      <h2>Cache</h2>
      <dl class="facts">
        <div>
          <dt>Serves at</dt>
          <dd>
            {agent.engineHost}:{agent.enginePort}
          </dd>
        </div>
        <div>
          <dt>Engine</dt>
          <dd>
            {agent.engineVersion} ({agent.engineState ?? `last seen ${agent.lastEngineState}`})
          </dd>
        </div>
        <div>
          <dt>Agent</dt>
          <dd>{agent.agentVersion}</dd>
        </div>
        <div>
          <dt>In this state</dt>
          <dd>
            <Time at={agent.lastStateChange} isAgo />
          </dd>
        </div>
        <div>
          <dt>Known since</dt>
          <dd>
            <Time at={agent.created} />
          </dd>
        </div>
        <div>
          <dt>Belongs to</dt>
          <dd>{organization?.name ?? 'all organizations'}</dd>
        </div>
        <div>
          <dt>Tags</dt>
          <dd class="cache-tags">
            {tags.length === 0 ? unknown : <Labels words={tags.map(({ name }) => name)} />}
          </dd>
        </div>
        <PlainFacts of={agent} resource={agentResource} />
      </dl>
    </section>
  )
}
