/** Other files of a group on a few caches, to be tried before all get them. */
import { useSignal, type Signal } from '@preact/signals'
import type { Group, Staged } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'
import { useList } from '../../api/list.js'
import type { Tag } from '../../../resources/tag.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Facts } from '../../parts/facts.js'
import { PickField } from '../../parts/pick-field.js'
import { filterOwned } from '../../parts/filter-owned.js'
import { Labels } from '../../parts/state-chip.js'
import { mayRead } from '../../session/rights.js'
import { FileChanges } from './file-changes.js'
import { toReferences } from './group-fields.js'
import { mayChangeGroup } from './may-change-group.js'
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
  return (
    <section class="panel" aria-label="Stage">
      <h2>Staged</h2>
      <Facts
        of={[
          ['Caches with tags', <Labels words={staged.tags.map((tag) => tag.name)} />],
          ['Domains', !group.root && staged.domains.map(({ fqdn }) => fqdn).join(', ')],
        ]}
      />
      <h3>Changes when it is promoted</h3>
      <FileChanges before={group.wish} after={staged} />
      {mayChangeGroup(group) && (
        <div class="row">
          <Button
            kind="main"
            isBusy={verbs.isBusy}
            onClick={() => {
              verbs.act(group, { name: 'promote', done: `The stage of ${name} is promoted.` })
            }}
          >
            Promote
          </Button>
          <Button isBusy={verbs.isBusy} onClick={() => void drop()}>
            Discard stage
          </Button>
        </div>
      )}
    </section>
  )
}

function StageForm({ group, verbs }: StageProps) {
  const tags = useSignal<readonly number[]>([])
  const main = useSignal<readonly number[]>(group.mainVCL ? [group.mainVCL.id] : [])
  const domains = useSignal<readonly number[]>(group.domains.map(({ id }) => id))
  const { rows } = useList<Tag>('/tags', { query: { sort: 'name' } })
  const stage = (): void => {
    const body = {
      tags: toReferences(tags.value),
      ...(mayRead('file') && { mainVCL: { id: main.value[0] } }),
      ...(!group.root && mayRead('domain') && { domains: toReferences(domains.value) }),
    }
    verbs.act(group, { name: 'stage', body, done: 'Staged.' })
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        stage()
      }}
    >
      <div class="group-form">
        <PickField
          label="Tags"
          options={filterOwned(rows, group.organization, { shared: true })}
          value={tags}
          hint="Running caches that have all of them"
        />
        {mayRead('file') && <StagedMain group={group} value={main} />}
        {!group.root && mayRead('domain') && (
          <PickField
            label="Domains"
            options={group.domains.map(({ id, fqdn }) => ({ id, name: fqdn }))}
            value={domains}
            hint="Those that the stage serves on its caches"
          />
        )}
      </div>
      <div class="row">
        <Button kind="main" type="submit" isBusy={verbs.isBusy} disabled={tags.value.length === 0}>
          Stage
        </Button>
      </div>
    </form>
  )
}

interface StagedMainProps {
  readonly group: Group
  readonly value: Signal<readonly number[]>
}

function StagedMain({ group, value }: StagedMainProps) {
  const { rows } = useList<FleetFile>('/files', { query: { fileType: '1', sort: 'name' } })
  return (
    <PickField
      label="Main VCL"
      options={filterOwned(rows, group.organization)}
      value={value}
      isSingle
      hint="In its newest version"
    />
  )
}
