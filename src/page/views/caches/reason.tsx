/** The problem of a cache in one line; the tooltip has the full text with the remedy. */
import type { Agent } from '../../../resources/agent.js'
import { Time } from '../../parts/time.js'
import { ConfigChip } from './config-chip.js'
import { findReason } from './judge-cache.js'
import { judgeConfig } from './judge-config.js'

export function ReasonLine({ agent }: { readonly agent: Agent }) {
  const reason = findReason(agent)
  if (!reason) return <ConfigWord agent={agent} />
  const { severity, message, since, remedy, others } = reason
  return (
    <span class={`caches-reason caches-severity-${severity}`} title={`${message}. ${remedy}`}>
      <span class="caches-reason-text">{message}</span>
      {others > 0 && <span class="caches-others">+{others}</span>}
      <span class="quiet">
        <Time at={since} isDuration isShort />
      </span>
    </span>
  )
}

/** The desired configuration may be pending or refused although the cache has no problem. */
function ConfigWord({ agent }: { readonly agent: Agent }) {
  const { word, tone } = judgeConfig(agent)
  if (tone === 'good' || tone === 'calm') return <span class="quiet">{word}</span>
  return <ConfigChip agent={agent} />
}
