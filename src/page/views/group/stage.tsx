/** A stage: other files of a group on a few caches, for a trial before all caches get them. */
import type { Group, Staged } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Facts } from '../../parts/facts.js'
import { ProblemNotes } from '../../parts/problem-notes.js'
import { Labels } from '../../parts/state-chip.js'
import { mayRead } from '../../session/rights.js'
import { FileChanges } from './file-changes.js'
import { mayChangeGroup } from './may-change-group.js'
import { StageForm } from './stage-form.js'
import { StagedCaches } from './staged-caches.js'
import type { Verbs } from './use-verbs.js'

interface StageProps {
  readonly group: Group
  readonly verbs: Verbs
}

export function Stage({ group, verbs }: StageProps) {
  if (group.staged) return <Present group={group} verbs={verbs} staged={group.staged} />
  return (
    <section class="panel" aria-label="Stage">
      <h2>Nothing is staged</h2>
      <p class="quiet">
        Staging puts the newest files on all running caches with the chosen tags, beside what is
        deployed. Promoting them deploys them to all caches of the group.
      </p>
      {mayChangeGroup(group) && mayRead('tag') && <StageForm group={group} verbs={verbs} />}
    </section>
  )
}

function Present({ group, verbs, staged }: StageProps & { readonly staged: Staged }) {
  const { name } = group
  const drop = async (): Promise<void> => {
    const question = {
      title: `Discard the stage of ${name}?`,
      text: 'It is removed from the caches that have it. The group itself does not change.',
      verb: 'Discard stage',
    }
    if (await confirmDestruction(question))
      verbs.act(group, { name: 'delstage', done: 'Stage discarded.' })
  }
  const promote = async (): Promise<void> => {
    const question = {
      title: `Promote the stage of ${name}?`,
      text: 'Its files become those of the group and are deployed to all its caches. The stage ends.',
      verb: 'Promote',
      isHarmless: true,
    }
    if (await confirmDestruction(question))
      verbs.act(group, { name: 'promote', done: `The stage of ${name} is promoted.` })
  }
  return (
    <section class="panel" aria-label="Stage">
      <h2>Staged</h2>
      <Facts
        of={[
          ['Caches with tags', <Labels words={staged.tags.map((tag) => tag.name)} />],
          ['Domains', !group.root && staged.domains.map(({ fqdn }) => fqdn).join(', ')],
        ]}
      />
      <ProblemNotes problems={staged.problems} />
      <StagedCaches places={staged.agentStates} />
      <h3>Changes when it is promoted</h3>
      <FileChanges before={group.wish} after={staged} />
      {mayChangeGroup(group) && (
        <div class="row">
          <Button kind="main" isBusy={verbs.isBusy} onClick={() => void promote()}>
            Promote…
          </Button>
          <Button isBusy={verbs.isBusy} onClick={() => void drop()}>
            Discard stage…
          </Button>
        </div>
      )}
    </section>
  )
}
