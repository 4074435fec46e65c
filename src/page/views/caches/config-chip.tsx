/** Whether a cache holds what it should; why, when the pointer rests on it. */
import type { Agent } from '../../api/agent.js'
import { StateChip } from '../../parts/state-chip.js'
import { judgeConfig } from './judge-config.js'

export function ConfigChip({ agent }: { readonly agent: Pick<Agent, 'config' | 'drift'> }) {
  const { word, tone, why } = judgeConfig(agent)
  return (
    <span title={why} class="caches-config">
      <StateChip state={word} tone={tone} />
    </span>
  )
}
