/** One group: its details, the changes of the next deploy, the progress of a deploy, and the history. */
import type { Group } from '../../../resources/vclgroup.js'
import { Link } from 'wouter-preact'
import { useObject } from '../../api/object.js'
import { Owner } from '../../parts/owner.js'
import { Sections } from '../../parts/sections.js'
import { StateChip } from '../../parts/state-chip.js'
import { LoadStatus } from '../../parts/load-status.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { GraphsSection } from '../graphs/graphs-section.js'
import { GroupActions } from './group-actions.js'
import { History } from './history.js'
import { isFailed, Overview } from './overview.js'
import { GroupProblems } from './group-problems.js'
import { groupEvents } from './group-events.js'
import { ProgressLine } from './progress-line.js'
import { describeRollout } from './rollout/describe-rollout.js'
import { useRollouts, type Rollouts } from './rollout/use-rollouts.js'
import { Stage } from './stage.js'
import { Workspace } from './workspace.js'
import { useHistory } from './use-history.js'
import { useVerbs, type Verbs } from './use-verbs.js'

export function View({ params }: ViewProps) {
  const { id = '', section = '' } = params
  const shown = useObject<Group>(`/vclgroups/${id}`, { follow: groupEvents })
  const { value, etag, reload } = shown
  const verbs = useVerbs(reload)
  const rollouts = useRollouts(value)
  return (
    <>
      <ViewHead
        title={value?.name ?? 'Group'}
        beside={value && <Beside group={value} verbs={verbs} />}
        back={{ href: '/groups', title: 'Groups' }}
      >
        {value && (
          <GroupActions
            group={value}
            etag={etag}
            verbs={verbs}
            reload={reload}
            section={section}
            isRolledOut={rollouts.running !== null}
          />
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={section === 'deploy' ? null : verbs} />
      {value && (
        <>
          <GroupProblems group={value} showsFailure={section === ''} />
          <Sections label="Parts of the group" items={listSections(value)} />
          {section !== 'deploy' && <Progress group={value} verbs={verbs} rollouts={rollouts} />}
          <Section group={value} verbs={verbs} rollouts={rollouts} reload={reload} name={section} />
        </>
      )}
    </>
  )
}

function Progress({ group, verbs, rollouts: { running } }: Omit<SectionProps, 'name' | 'reload'>) {
  if (!running) return <ProgressLine group={group} verbs={verbs} />
  return (
    <p role="status">
      <Link href={`/groups/${group.id}/deploy`}>{describeRollout(running)}</Link>
    </p>
  )
}

function Beside({ group, verbs }: Pick<SectionProps, 'group' | 'verbs'>) {
  const { stateName, revision, console } = group
  return (
    <>
      <StateChip state={stateName} />
      {!group.deployed && <FailedDeploy group={group} verbs={verbs} />}
      {revision > 0 && <span class="group-revision">revision {revision}</span>}
      <Owner of={group} />
      {console && <span class="quiet">managed in the console</span>}
    </>
  )
}

/** A failed first deploy leaves the group Inactive, so only its history shows the failure. */
function FailedDeploy({ group, verbs }: Pick<SectionProps, 'group' | 'verbs'>) {
  const newest = useHistory(group, verbs).value?.[0]
  return newest && isFailed(newest) ? (
    <StateChip state={`${newest.action} failed`} tone="bad" />
  ) : null
}

function listSections({ id, console, staged }: Group) {
  const base = `/groups/${id}`
  const overview = { href: base, title: 'Overview' }
  const history = { href: `${base}/history`, title: 'History' }
  const graphs = mayRead('stats') ? [{ href: `${base}/graphs`, title: 'Graphs' }] : []
  const log = mayRead('log') ? [{ href: `/log?vclGroup=${id}`, title: 'Log' }] : []
  if (console) return [overview, history, ...graphs, ...log]
  return [
    overview,
    { href: `${base}/deploy`, title: 'Deploy' },
    history,
    { href: `${base}/stage`, title: nameStage(staged) },
    ...graphs,
    ...log,
  ]
}

function nameStage(staged: Group['staged']): string {
  if (staged === null) return 'Stage'
  const { length: count } = staged.problems
  return count === 0 ? 'Stage (1)' : `Stage (${count} ${count === 1 ? 'problem' : 'problems'})`
}

interface SectionProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly rollouts: Rollouts
  readonly name: string
  readonly reload: () => void
}

function Section({ name, ...props }: SectionProps) {
  const { group, verbs } = props
  if (name === 'deploy') return <Workspace {...props} />
  if (name === 'history') return <History group={group} verbs={verbs} />
  if (name === 'stage') return <Stage group={group} verbs={verbs} />
  if (name === 'graphs') return <GraphsSection subject={{ kind: 'vclgroups', ids: [group.id] }} />
  return <Overview group={group} verbs={verbs} />
}
