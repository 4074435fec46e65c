/** Why a cache is not well, in one line; whole, with its remedy, when the pointer rests on it. */
import type { Agent } from '../../../resources/agent.js'
import { Time } from '../../parts/time.js'
import { findReason } from './judge-cache.js'
import { judgeConfig } from './judge-config.js'

export function ReasonLine({ agent }: { readonly agent: Agent }) {
  const reason = findReason(agent)
  // What it holds may be on its way without anything being wrong.
  if (!reason) return <span class="quiet">{judgeConfig(agent).word}</span>
  const { severity, message, since, remedy, others } = reason
  return (
    <span class={`caches-reason caches-severity-${severity}`} title={`${message}. ${remedy}`}>
      <span class="caches-reason-text">{message}</span>
      {others > 0 && <span class="caches-others">+{others}</span>}
      <span class="quiet">
        <Time at={since} isAgo />
      </span>
    </span>
  )
}
