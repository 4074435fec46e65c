/** The desired, last attempted and effective configuration of a cache, and the last external change that was reverted. */
import type { Agent } from '../../../resources/agent.js'
import { Facts } from '../../parts/facts.js'
import { unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { formatRevision } from '../caches/judge-config.js'
import { Time } from '../../parts/time.js'

export function ConfigPanel({ agent }: { readonly agent: Agent }) {
  const { desired, lastAttempted, effective } = agent.config
  return (
    <section class="panel" aria-label="Configuration">
      <h2>Configuration</h2>
      <Facts
        of={[
          ['Desired', formatRevision(desired.revision)],
          ['Last attempt', <Attempt {...lastAttempted} />],
          ['Effective', formatRevision(effective.revision)],
        ]}
      />
      {lastAttempted.error !== null && <pre tabIndex={0}>{lastAttempted.error}</pre>}
      {agent.drift && <Drift drift={agent.drift} />}
      {agent.adoption && <Adoption adoption={agent.adoption} />}
    </section>
  )
}

function Attempt({ revision, result, at }: Agent['config']['lastAttempted']) {
  return (
    <span class="row">
      {formatRevision(revision)}
      {result !== null && <StateChip state={result} />}
      {at !== null && <Time at={at} isAgo />}
    </span>
  )
}

function Adoption({ adoption }: { readonly adoption: NonNullable<Agent['adoption']> }) {
  const { at, result, error, group, difference } = adoption
  return (
    <>
      <p class="quiet">
        Its VCL was {result} <Time at={at} isAgo />
        {group && ` as VCL group ${group.name}`}
        {error !== null && `: ${error}`}
      </p>
      {difference !== null && (
        <details>
          <summary>How its VCL differs</summary>
          <pre tabIndex={0}>{difference}</pre>
        </details>
      )}
    </>
  )
}

function Drift({ drift }: { readonly drift: NonNullable<Agent['drift']> }) {
  const { at, foreign, action, healedAt } = drift
  return (
    <>
      <h3>Changed from outside</h3>
      <Facts
        of={[
          ['Detected', <Time at={at} isAgo />],
          ['What', foreign.length === 0 ? unknown : foreign.join(', ')],
          ['Action', action !== '' && action],
          ['Healed', healedAt === null ? 'not yet' : <Time at={healedAt} isAgo />],
        ]}
      />
    </>
  )
}
