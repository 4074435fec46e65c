/** What a deploy would change, before its button; and how it goes, after. */
import type { Group, Pins, PlacementReason } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import { stateColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { formatCount } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { DeployForm } from './deploy-form.js'
import { FileChanges } from './file-changes.js'
import { planPlaces, groupReasons, formatPlaces, type PlannedPlace } from './plan-places.js'
import { NameChanges } from './name-changes.js'
import { nameDeployments } from './name-deployments.js'
import { RoutingChanges } from './routing.js'
import { usePlacementPreview } from './use-placement-preview.js'
import { useNextPins } from './use-next-pins.js'
import { useSettled } from './use-settled.js'
import type { Verbs } from './use-verbs.js'

export function Plan({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const next = useNextPins(group)
  if (group.console)
    return (
      <Empty icon="group" title="This group is managed in the console">
        <p>Its caches, its VCL and its deploys are there.</p>
      </Empty>
    )
  if (!next.isKnown) return <Loading />
  return (
    <>
      <div class="group-plan">
        <FilesPanel group={group} next={next.pins} />
        {!group.root && <DomainsPanel group={group} />}
        <CachesPanel group={group} />
      </div>
      <DeployForm group={group} verbs={verbs} />
    </>
  )
}

function FilesPanel({ group, next }: { readonly group: Group; readonly next: Pins | null }) {
  return (
    <section class="panel" aria-label="Files">
      <h2>Files</h2>
      {group.wish && !group.deployed && (
        <p class="quiet">Not deployed now. Compared with the last deploy.</p>
      )}
      {next ? (
        <FileChanges before={group.wish} after={next} />
      ) : (
        <p class="quiet">
          {group.mainVCL?.name}
          {group.includes.length > 0 && ` and ${group.includes.length} includes`}
        </p>
      )}
    </section>
  )
}

function DomainsPanel({ group }: { readonly group: Group }) {
  const { wish, domains } = group
  return (
    <section class="panel" aria-label="Domains">
      <h2>Domains</h2>
      <NameChanges
        label="Domains"
        before={(wish?.domains ?? []).map(({ fqdn }) => fqdn)}
        after={domains.map(({ fqdn }) => fqdn)}
        none="None."
      />
      <RoutingChanges group={group} />
    </section>
  )
}

function CachesPanel({ group }: { readonly group: Group }) {
  const { id, agentStates, deployments } = group
  const reasons = useObject<readonly PlacementReason[]>(`/vclgroups/${id}/placement`)
  useSettled(group, reasons.reload)
  const preview = usePlacementPreview(group)
  const held = new Set(agentStates.map(({ agent }) => agent.id))
  const rows = planPlaces(preview.value, reasons.value ?? [], held)
  const error = reasons.error ?? preview.error
  return (
    <section class="panel" aria-label="Caches">
      <h2>Caches: {formatPlaces(rows)}</h2>
      {error && <ErrorNote error={error} onRetry={reasons.reload} />}
      <DeploymentChanges group={group} reasons={reasons.value ?? []} />
      <ReleaseChanges group={group} />
      {deployments.length === 0 && (
        <p class="group-note tone-warn">
          The group has no deployment. Edit it to choose the caches that it may use.
        </p>
      )}
      {preview.value?.shortage != null && (
        <p class="group-note tone-warn">{preview.value.shortage}</p>
      )}
      <Reasons rows={rows} />
      {rows.length > 0 && <Table label="Caches of a deploy" rows={rows} columns={columns} />}
    </section>
  )
}

interface DeploymentChangesProps {
  readonly group: Group
  readonly reasons: readonly PlacementReason[]
}

function DeploymentChanges({ group: { wish, deployments }, reasons }: DeploymentChangesProps) {
  if (!wish) return null
  const names = nameDeployments(wish, deployments, reasons)
  const after = deployments.map(({ name }) => name)
  if (names.join('\n') === after.join('\n')) return null
  return <NameChanges label="Deployments" before={names} after={after} none="" />
}

/** Nothing where any may have it, before and after. */
function ReleaseChanges({ group: { wish, releases } }: { readonly group: Group }) {
  const [before, after] = [wish?.releases ?? [], releases ?? []]
  if (!wish || before.join('\n') === after.join('\n')) return null
  return <NameChanges label="Releases" before={before} after={after} none="" />
}

/** Few, however many caches there are; and whole, however narrow it is. */
function Reasons({ rows }: { readonly rows: readonly PlannedPlace[] }) {
  return (
    <ul class="plain-list group-reasons">
      {groupReasons(rows).map(({ what, reason, count }) => (
        <li key={`${what} ${reason}`}>
          <StateChip state={`${formatCount(count)} ${what}`} tone={tones[what]} />
          <span>{reason}</span>
        </li>
      ))}
    </ul>
  )
}

const tones: Readonly<Record<PlannedPlace['what'], Tone>> = {
  added: 'good',
  removed: 'warn',
  'no change': 'busy',
  'not placed': 'calm',
}

const columns: readonly Column<PlannedPlace>[] = [
  textColumn('Cache', ({ name }) => name),
  stateColumn('Change', ({ what }) => what, { width: '7.5rem', toneOf: ({ what }) => tones[what] }),
  textColumn('Deployment', ({ deployment }) => deployment ?? '', {
    width: '18%',
    from: 'wide',
    sortBy: ({ deployment }) => deployment,
  }),
  {
    title: 'Why',
    width: '40%',
    from: 'medium',
    show: ({ reason }) => <span title={reason}>{reason}</span>,
  },
]
