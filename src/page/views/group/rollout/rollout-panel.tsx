/** The running or just ended rollout of a group: its state, the reason, and the possible actions. */
import { rolloutStates, type Rollout } from '../../../../resources/rollout.js'
import { startSentence } from '../../../parts/start-sentence.js'
import { StateChip } from '../../../parts/state-chip.js'
import { Time } from '../../../parts/time.js'
import { describeBake, describeWave, measureBake, wordOfState } from './describe-rollout.js'
import { RolloutActions } from './rollout-actions.js'
import { RolloutDetails } from './rollout-details.js'

interface RolloutPanelProps {
  readonly rollout: Rollout
  readonly reload: () => void
}

export function RolloutPanel({ rollout, reload }: RolloutPanelProps) {
  const { id, revision, stateName, state } = rollout
  return (
    <section class="panel" aria-label={`Rollout ${id}`}>
      <div class="group-deploy-head">
        <h2>
          Rollout {id} to revision {revision} <StateChip state={wordOfState(stateName)} />
        </h2>
        <RolloutActions rollout={rollout} reload={reload} />
      </div>
      <p class="group-summary" role="status">
        {startSentence(describeWave(rollout))}
      </p>
      {state === rolloutStates.Baking && <Bake rollout={rollout} />}
      <Reason rollout={rollout} />
      <Course rollout={rollout} />
      <RolloutDetails rollout={rollout} />
    </section>
  )
}

function Bake({ rollout }: { readonly rollout: Rollout }) {
  return (
    <div class="group-progress">
      <p>{describeBake(rollout)}</p>
      <div class="group-bar" aria-hidden="true">
        <div class="group-bar-done" style={{ width: `${100 * measureBake(rollout)}%` }} />
      </div>
    </div>
  )
}

export function Reason({ rollout: { reason, state } }: { readonly rollout: Rollout }) {
  if (reason === null) return null
  const isPaused = state === rolloutStates.Paused
  return <p class={`note tone-${isPaused ? 'warn' : 'bad'}`}>{startSentence(reason)}</p>
}

/** Who started the rollout, and what happens if a gate fails. */
export function Course({ rollout }: { readonly rollout: Rollout }) {
  const { account, startedAt, endedAt, fromRevision, policy } = rollout
  return (
    <p class="quiet">
      Begun <Time at={startedAt} isAgo /> by {account || 'the coordinator'}
      {endedAt === null ? (
        policy.onFailure === 'pause' ? (
          '. It pauses if a gate fails.'
        ) : (
          `. It goes back to revision ${fromRevision} if a gate fails.`
        )
      ) : (
        <>
          , ended <Time at={endedAt} isAgo />.
        </>
      )}
    </p>
  )
}
