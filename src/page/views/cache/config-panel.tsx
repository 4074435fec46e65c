/** What a cache should hold, what was tried last, what it holds; and the last change from outside that was undone. */
import type { Agent } from '../../../resources/agent.js'
import { unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { sayRevision } from '../caches/judge-config.js'
import { Time } from '../../parts/time.js'

export function ConfigPanel({ agent }: { readonly agent: Agent }) {
  const { desired, lastAttempted, effective } = agent.config
  return (
    <section class="panel" aria-label="Configuration">
      <h2>Configuration</h2>
      <dl class="facts">
        <div>
          <dt>Desired</dt>
          <dd>{sayRevision(desired.revision)}</dd>
        </div>
        <div>
          <dt>Last attempt</dt>
          <dd class="row">
            {sayRevision(lastAttempted.revision)}
            {lastAttempted.result !== null && <StateChip state={lastAttempted.result} />}
            {lastAttempted.at !== null && <Time at={lastAttempted.at} isAgo />}
          </dd>
        </div>
        <div>
          <dt>Effective</dt>
          <dd>{sayRevision(effective.revision)}</dd>
        </div>
      </dl>
      {lastAttempted.error !== null && <pre tabIndex={0}>{lastAttempted.error}</pre>}
      {agent.drift && <Drift drift={agent.drift} />}
      {agent.adoption && <Adoption adoption={agent.adoption} />}
    </section>
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
      <dl class="facts">
        <div>
          <dt>Seen</dt>
          <dd>
            <Time at={at} isAgo />
          </dd>
        </div>
        <div>
          <dt>What</dt>
          <dd>{foreign.length === 0 ? unknown : foreign.join(', ')}</dd>
        </div>
        {action !== '' && (
          <div>
            <dt>Done about it</dt>
            <dd>{action}</dd>
          </div>
        )}
        <div>
          <dt>Put right</dt>
          <dd>{healedAt === null ? 'not yet' : <Time at={healedAt} isAgo />}</dd>
        </div>
      </dl>
    </>
  )
}
