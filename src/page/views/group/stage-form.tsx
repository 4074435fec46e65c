/** Stages other files of a group for chosen domains on chosen caches; offers only choices that can work. */
import { useSignal, type Signal } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import type { Domain } from '../../../resources/domain.js'
import type { FleetFile } from '../../../resources/file.js'
import type { Tag } from '../../../resources/tag.js'
import type { Group, PlacementReason } from '../../../resources/vclgroup.js'
import { useList } from '../../api/list.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { ErrorNote } from '../../parts/error-note.js'
import { filterOwned } from '../../parts/filter-owned.js'
import { formatNames } from '../../parts/format-names.js'
import { PickField } from '../../parts/pick-field.js'
import { mayRead } from '../../session/rights.js'
import { toReferences } from './group-fields.js'
import { judgeStage, listStageCaches, listStageTags, type StageCache } from './judge-stage.js'
import { useSettled } from './use-settled.js'
import type { Verbs } from './use-verbs.js'

interface StageFormProps {
  readonly group: Group
  readonly verbs: Verbs
}

export function StageForm({ group, verbs }: StageFormProps) {
  const tags = useSignal<readonly number[]>([])
  const main = useSignal<readonly number[]>(group.mainVCL ? [group.mainVCL.id] : [])
  const domains = useSignal<readonly number[]>(group.domains.map(({ id }) => id))
  const hasDomains = !group.root && mayRead('domain')
  const fitting = useFitting(group, hasDomains ? domains.value : [])
  const { caches, error } = fitting
  const { names, hindrance } = judgeStage(caches, tags.value)
  const isUnnamed = hasDomains && domains.value.length === 0
  const stage = (): void => {
    const body = {
      tags: toReferences(tags.value),
      ...(mayRead('file') && { mainVCL: { id: main.value[0] } }),
      ...(hasDomains && { domains: toReferences(domains.value) }),
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
        <TagField group={group} value={tags} caches={caches} />
        {mayRead('file') && <StagedMain group={group} value={main} />}
        {hasDomains && <DomainField group={group} value={domains} />}
      </div>
      {error && <ErrorNote error={error} onRetry={fitting.reload} />}
      <p class="quiet" role="status">
        {isUnnamed
          ? 'Choose at least one domain.'
          : (hindrance ?? (caches && `Goes to ${formatNames(names)}.`))}
      </p>
      <div class="row">
        <Button
          kind="main"
          type="submit"
          isBusy={verbs.isBusy}
          disabled={isUnnamed || hindrance !== null}
        >
          Stage
        </Button>
      </div>
    </form>
  )
}

/** The running caches, and which of them could take the stage with these domains. */
function useFitting(group: Group, domains: readonly number[]) {
  const mayKnow = mayRead('agent')
  const agents = useList<Agent>(mayKnow ? '/agents' : null, { follow: ['agent'], isWhole: true })
  const named = domains.length === 0 ? '' : `&domains=${domains.join(',')}`
  const path = `/vclgroups/${group.id}/placement?stage=true${named}`
  const reasons = useObject<readonly PlacementReason[]>(mayKnow ? path : null)
  useSettled(group, reasons.reload)
  return {
    caches:
      agents.phase === 'ready' && reasons.value
        ? listStageCaches(agents.rows, reasons.value)
        : null,
    error: agents.error ?? reasons.error,
    reload: reasons.reload,
  }
}

interface TagFieldProps {
  readonly group: Group
  readonly value: Signal<readonly number[]>
  readonly caches: readonly StageCache[] | null
}

function TagField({ group, value, caches }: TagFieldProps) {
  const { rows } = useList<Tag>('/tags', { query: { sort: 'name' } })
  const usable = filterOwned(rows, group.organization, { shared: true })
  return (
    <PickField
      label="Tags"
      options={listStageTags(usable, caches, value.value)}
      value={value}
      hint="Running caches that have all of them"
    />
  )
}

interface OwnFieldProps {
  readonly group: Group
  readonly value: Signal<readonly number[]>
}

function DomainField({ group, value }: OwnFieldProps) {
  const { rows } = useList<Domain>('/domains', { query: { sort: 'fqdn' } })
  return (
    <PickField
      label="Domains"
      options={filterOwned(rows, group.organization).map(({ id, fqdn }) => ({ id, name: fqdn }))}
      value={value}
      hint="Those that the stage serves on its caches"
    />
  )
}

function StagedMain({ group, value }: OwnFieldProps) {
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
