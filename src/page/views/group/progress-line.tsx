/** The progress of an action on a group while it runs. */
import type { Group } from '../../../resources/vclgroup.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { measureProgress } from './place-steps.js'
import type { Verbs } from './use-verbs.js'

const doing = {
  deploy: 'Deploying',
  undeploy: 'Undeploying',
  reload: 'Recompiling',
  rollback: 'Rolling back',
  promote: 'Promoting',
  stage: 'Staging',
  delstage: 'Discarding the stage',
} as const

export function ProgressLine({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const { isBusy, last } = verbs
  const ill = useIllAgents()
  if (!isBusy && group.stateName !== 'Deploying') return null
  // If another user started it, the action is unknown.
  const { name, revisionBefore } = last ?? { name: 'deploy', revisionBefore: null }
  const progress = name === 'undeploy' ? null : measureProgress(group, revisionBefore, ill)
  if (!progress) return <p role="status">{doing[name]}…</p>
  const { done, all, verb, failed, away } = progress
  return (
    <div class="group-progress">
      <p role="status">
        {doing[name]}: {done} of {all} {verb}
        {failed > 0 && `, ${failed} failed`}
        {away > 0 && `, ${away} when ${away === 1 ? 'it reconnects' : 'they reconnect'}`}
      </p>
      <div class="group-bar" aria-hidden="true">
        <div class="group-bar-done" style={{ width: `${(100 * done) / all}%` }} />
      </div>
    </div>
  )
}
