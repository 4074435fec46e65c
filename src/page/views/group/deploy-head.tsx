/** Summary or progress of a deploy with its buttons; remains visible while the details scroll. */
import { useSignal, type Signal } from '@preact/signals'
import type { GivenPolicy } from '../../../resources/rollout.js'
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { CheckField, SelectField } from '../../parts/field.js'
import { useDialog } from '../../parts/use-dialog.js'
import { DeployInWaves } from './rollout/deploy-in-waves.js'
import { describeWaves } from './rollout/policy-fields.js'
import { describeRollout } from './rollout/describe-rollout.js'
import type { Rollouts } from './rollout/use-rollouts.js'
import { CancelDeploy } from './cancel-deploy.js'
import { findRollback } from '../overview/find-rollback.js'
import { mayChangeGroup } from './may-change-group.js'
import { ProgressLine } from './progress-line.js'
import { RevisionDialog } from './revision-dialog.js'
import type { DeployPlan } from './use-deploy-plan.js'
import type { Verbs } from './use-verbs.js'

const waits = [
  { value: '60', title: 'at most 1 minute' },
  { value: '300', title: 'at most 5 minutes' },
  { value: '600', title: 'at most 10 minutes' },
  { value: '0', title: 'do not wait' },
]
const percents = [
  { value: '100', title: 'all caches have it' },
  { value: '75', title: '75 % have it' },
  { value: '50', title: '50 % have it' },
]

interface DeployHeadProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly plan: DeployPlan
  readonly rollouts: Rollouts
  readonly history: readonly HistoryEntry[]
  readonly reload: () => void
  readonly onDeploy: () => void
}

export function DeployHead(props: DeployHeadProps) {
  const { group, verbs, plan, history, reload, onDeploy } = props
  const { running } = props.rollouts
  const wait = useSignal('60')
  const percent = useSignal('100')
  const isDeploying = group.stateName === 'Deploying' && !running
  const isGoing = isDeploying || verbs.isBusy
  const isAtOnce = useSignal(false)
  const deploy = (rollout?: GivenPolicy | null): void => {
    const query = { wait: wait.value, percent: percent.value }
    const body = rollout === undefined ? {} : { body: { rollout } }
    verbs.act(group, { name: 'deploy', query, ...body, done: `${group.name} deployed.` })
    onDeploy()
  }
  return (
    <section class="panel group-deploy" aria-label="Deploy">
      <div class="group-deploy-head">
        <div class="group-deploy-plan">
          {isGoing && !running ? (
            <ProgressLine group={group} verbs={verbs} />
          ) : (
            <p class="group-summary" role="status">
              {running ? describeRollout(running) : plan.summary}
            </p>
          )}
        </div>
        {mayChangeGroup(group) && (
          <div class="row">
            {isDeploying && <CancelDeploy group={group} reload={reload} />}
            <RollBack group={group} verbs={verbs} history={history} />
            <Button
              kind="main"
              isBusy={isGoing}
              disabled={plan.hindrances.length > 0}
              onClick={() => {
                deploy(isAtOnce.value ? null : undefined)
              }}
            >
              {plan.waiting === null ? 'Deploy' : 'Deploy when caches fit'}
            </Button>
          </div>
        )}
      </div>
      {!isGoing && <Hindrances plan={plan} />}
      {mayChangeGroup(group) && (
        <Options
          group={group}
          verbs={verbs}
          wait={wait}
          percent={percent}
          isAtOnce={isAtOnce}
          deploy={deploy}
        />
      )}
    </section>
  )
}

function Hindrances({ plan: { hindrances, waiting } }: Pick<DeployHeadProps, 'plan'>) {
  return (
    <>
      {hindrances.map((text) => (
        <p key={text} class="note tone-bad">
          {text}
        </p>
      ))}
      {waiting !== null && (
        <p class="note tone-warn">
          {waiting}. A deploy waits until enough caches fit, and is made by itself then.
        </p>
      )}
    </>
  )
}

function RollBack({ group, verbs, history }: Pick<DeployHeadProps, 'group' | 'verbs' | 'history'>) {
  const shown = useDialog<HistoryEntry>()
  const earlier = group.deployed ? findRollback(history) : null
  return (
    <>
      <Button
        isBusy={verbs.isBusy}
        disabled={earlier === null}
        onClick={() => {
          if (earlier) shown.open(earlier)
        }}
      >
        Roll back…
      </Button>
      {shown.subject && (
        <RevisionDialog group={group} verbs={verbs} entry={shown.subject} onClose={shown.close} />
      )}
    </>
  )
}

interface OptionsProps extends Pick<DeployHeadProps, 'group' | 'verbs'> {
  readonly wait: Signal<string>
  readonly percent: Signal<string>
  readonly isAtOnce: Signal<boolean>
  readonly deploy: (rollout: GivenPolicy) => void
}

function Options({ group, verbs, wait, percent, isAtOnce, deploy }: OptionsProps) {
  const { rollout, deployed } = group
  return (
    <details class="group-options">
      <summary>Options</summary>
      <div class="stack">
        <p class="quiet">
          All caches load and compile it first. They switch only if enough of them succeed;
          otherwise the old VCL keeps serving.
        </p>
        <div class="group-choices">
          <SelectField label="Wait" value={wait} options={waits} />
          <SelectField label="Until" value={percent} options={percents} />
        </div>
        {rollout && (
          <CheckField
            label="All caches at once"
            hint={`Otherwise in waves: ${describeWaves(rollout.waves)}`}
            value={isAtOnce}
          />
        )}
        {deployed && <DeployInWaves group={group} verbs={verbs} deploy={deploy} />}
      </div>
    </details>
  )
}
