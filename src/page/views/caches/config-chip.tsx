/** Shows whether a cache has its desired configuration; the tooltip gives the reason. */
import { StateChip } from '../../parts/state-chip.js'
import { judgeConfig, type Judged } from './judge-config.js'

export function ConfigChip({ agent }: { readonly agent: Judged }) {
  const { word, tone, why } = judgeConfig(agent)
  return (
    <span title={why} class="caches-config">
      <StateChip state={word} tone={tone} />
    </span>
  )
}
