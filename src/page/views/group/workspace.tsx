/** Deploys a group: the plan and its buttons always visible, the details below, and the result. */
import { useEffect } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { LoadedPart } from '../../parts/loaded-part.js'
import { Loading } from '../../parts/loading.js'
import { startSentence } from '../../parts/start-sentence.js'
import { now } from '../../parts/time.js'
import { useAddressField } from '../../shell/address.js'
import { CachesTab } from './caches-tab.js'
import { CompileErrors } from './compile-errors.js'
import { DeployHead } from './deploy-head.js'
import { DeployResult } from './deploy-result.js'
import { FilesTab } from './files-tab.js'
import { countPlanned } from './plan-places.js'
import { findShown } from './rollout/describe-rollout.js'
import type { Rollouts } from './rollout/use-rollouts.js'
import { RoutingTab } from './routing.js'
import { useDeployPlan, type DeployPlan } from './use-deploy-plan.js'
import { useHistory } from './use-history.js'
import type { Verbs } from './use-verbs.js'

interface WorkspaceProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly rollouts: Rollouts
  readonly reload: () => void
}

export function Workspace({ group, verbs, rollouts, reload }: WorkspaceProps) {
  const plan = useDeployPlan(group)
  const history = useHistory(group, verbs)
  const [tab, setTab] = useAddressField('tab')
  const { next } = plan
  const rollout = findShown(rollouts.known, now.value)
  // The last refusal applied to other files.
  useEffect(verbs.forget, [JSON.stringify(next)])
  if (group.console)
    return (
      <Empty icon="group" title="This group is managed in the console">
        <p>Its caches, its VCL and its deploys are there.</p>
      </Empty>
    )
  if (!plan.isKnown) return <Loading />
  return (
    <>
      <DeployHead
        group={group}
        verbs={verbs}
        plan={plan}
        rollouts={rollouts}
        history={history.value ?? []}
        reload={reload}
        onDeploy={() => {
          setTab('caches')
        }}
      />
      <Outcome group={group} verbs={verbs} plan={plan} />
      <Warnings verbs={verbs} plan={plan} />
      {rollout && (
        <LoadedPart
          key={rollout.id}
          name="The rollout"
          load={async () => (await import('./rollout/rollout-panel.js')).RolloutPanel}
          props={{ rollout, reload: rollouts.reload }}
        />
      )}
      <DeployResult group={group} verbs={verbs} history={history.value ?? []} />
      <Choices
        label="Parts of the deploy"
        value={tab === '' ? 'files' : tab}
        onChoose={(chosen) => {
          setTab(chosen === 'files' ? '' : chosen)
        }}
        choices={listTabs(group, plan, rollouts)}
      />
      <Tab name={tab} group={group} verbs={verbs} rollouts={rollouts} plan={plan} />
    </>
  )
}

function listTabs(
  { root }: Group,
  { next, filesChanged, places }: DeployPlan,
  { known }: Rollouts,
) {
  const placed = places.length - countPlanned(places, 'not placed')
  return [
    { value: 'files', title: 'Files', ...(next && { count: filesChanged }) },
    { value: 'caches', title: 'Caches', count: placed },
    ...(root ? [] : [{ value: 'routing', title: 'Routing' }]),
    ...(known.length === 0 ? [] : [{ value: 'rollouts', title: 'Rollouts' }]),
  ]
}

interface TabProps extends Omit<WorkspaceProps, 'reload'> {
  readonly plan: DeployPlan
}

function Tab({ name, ...props }: TabProps & { readonly name: string }) {
  if (name === 'caches') return <CachesTab {...props} />
  if (name === 'rollouts')
    return (
      <LoadedPart
        name="Rollouts"
        load={async () => (await import('./rollout/past-rollouts.js')).PastRollouts}
        props={{ rollouts: props.rollouts.known }}
      />
    )
  if (name === 'routing' && !props.group.root) return <RoutingTab group={props.group} />
  return <FilesTab group={props.group} next={props.plan.next} />
}

/** What an accepted deploy did not do, or would not do. */
function Warnings({ verbs, plan: { check } }: Pick<TabProps, 'verbs' | 'plan'>) {
  const expected = check.state === 'compiles' ? check.warnings : []
  return [...new Set([...verbs.warnings, ...expected])].map((text) => (
    <p key={text} class="note tone-warn">
      {startSentence(text)}
    </p>
  ))
}

/** Why a deploy was or would be refused; below the buttons, so that they do not move. */
function Outcome({ group, verbs, plan }: Omit<TabProps, 'rollouts'>) {
  const { check } = plan
  const refused =
    'error' in check &&
    (check.error.status === 422 || (check.state === 'unchecked' && plan.waiting === null))
  const error = verbs.error ?? (refused ? check.error : null)
  if (error === null) return null
  return (
    <section class="group-outcome" aria-label="Errors">
      <CompileErrors group={group} text={error.errorMsg} />
      <ErrorNote error={error} />
      {verbs.error === null && (
        <div>
          <Button icon="refresh" onClick={plan.checkEach}>
            Check again
          </Button>
        </div>
      )}
    </section>
  )
}
