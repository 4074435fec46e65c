/** Composes events from changes: each object is read once, however often it changed, in its current form. */
import type { ChangeKind } from '../../resources/event.js'
import { readAgents, type AgentRecord } from '../fleet/agent-queries.js'
import { selectApiLogs, type ApiLogRecord } from '../api-log/api-log-queries.js'
import type { ChangeRow } from './changes.js'
import { readLastAbout, type NewEvent } from './event-queries.js'
import type { Queries } from '../store/store.js'
import {
  readListedInvalidations,
  type ListedInvalidation,
} from '../invalidations/invalidation-view.js'
import { composeEdited, type EditedViews } from './compose-edited.js'
import { readDeploymentEvents, type DeploymentEvent } from './deployment-events.js'

/** Views of the API for composed objects. */
export interface EventViews extends EditedViews {
  /** `whole` is false for an organization that only shares the agent. */
  agent(agent: AgentRecord, whole: boolean): object
  deployment(event: DeploymentEvent): object
  invalidation(listed: ListedInvalidation): object
  apiLog(log: ApiLogRecord): object
}

type Untimed = Omit<NewEvent, 'createdAt'>

const everything = { kind: 'all' } as const

/** Omits objects whose view did not change, and objects that were created and deleted in between. */
export async function composeEvents(
  queries: Queries,
  changes: readonly ChangeRow[],
  views: EventViews,
): Promise<Untimed[]> {
  const gone = changes.filter(({ deleted }) => deleted)
  const composed = [
    ...(await composeApiLogs(queries, idsOf(changes, 'apilog'), views)),
    ...(await composeAgents(queries, idsOf(changes, 'agent'), views)),
    ...(await composeDeployments(queries, changes, views)),
    ...(await composeInvalidations(queries, idsOf(changes, 'invalidation'), views)),
    ...(await composeEdited(queries, idsOfEdited(changes), views)),
  ]
  return [...composed, ...gone.flatMap(toDeletion)]
}

function idsOf(changes: readonly ChangeRow[], kind: ChangeKind): number[] {
  const ids = changes.filter((one) => one.kind === kind && !one.deleted)
  return [...new Set(ids.map(({ objectId }) => objectId))]
}

function idsOfEdited(changes: readonly ChangeRow[]) {
  return {
    file: idsOf(changes, 'file'),
    vclgroup: idsOf(changes, 'vclgroup'),
    domain: idsOf(changes, 'domain'),
    tag: idsOf(changes, 'tag'),
    certificate: idsOf(changes, 'certificate'),
    backend: idsOf(changes, 'backend'),
    webhook: idsOf(changes, 'webhook'),
    rollout: idsOf(changes, 'rollout'),
  }
}

async function composeApiLogs(
  queries: Queries,
  ids: readonly number[],
  views: EventViews,
): Promise<Untimed[]> {
  if (ids.length === 0) return []
  const logs = await selectApiLogs(queries, everything)
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute()
  return logs.map((log) => ({
    type: 'apilog',
    organizationId: log.organizationId,
    about: null,
    data: JSON.stringify(views.apiLog(log)),
    sharedData: null,
  }))
}

async function composeAgents(
  queries: Queries,
  ids: readonly number[],
  views: EventViews,
): Promise<Untimed[]> {
  if (ids.length === 0) return []
  const found = await readAgents(queries, everything, ids)
  const agents = new Map(found.map((agent) => [agent.id, agent]))
  return ids
    .flatMap((id) => agents.get(id) ?? [])
    .map((agent) => ({
      type: 'agent',
      organizationId: agent.organization?.id ?? null,
      about: null,
      data: JSON.stringify(views.agent(agent, true)),
      sharedData: agent.organization ? null : JSON.stringify(views.agent(agent, false)),
    }))
}

async function composeDeployments(
  queries: Queries,
  changes: readonly ChangeRow[],
  views: EventViews,
): Promise<Untimed[]> {
  const events = await readDeploymentEvents(queries, {
    groupIds: idsOf(changes, 'group'),
    deploymentIds: idsOf(changes, 'deployment'),
  })
  const composed = events.map((event) => ({
    type: 'deployment' as const,
    organizationId: event.deployment.organization?.id ?? null,
    about: `deployment ${event.deployment.id} of group ${event.group?.id ?? 0}`,
    data: JSON.stringify(views.deployment(event)),
    sharedData: null,
  }))
  const last = await readLastAbout(
    queries,
    composed.map(({ about }) => about),
  )
  return composed.filter(({ about, data }) => last.get(about) !== data)
}

async function composeInvalidations(
  queries: Queries,
  ids: readonly number[],
  views: EventViews,
): Promise<Untimed[]> {
  if (ids.length === 0) return []
  const listed = await readListedInvalidations(queries, ids)
  return listed.map((one) => ({
    type: 'invalidation',
    organizationId: one.entry.organization?.id ?? null,
    about: null,
    data: JSON.stringify(views.invalidation(one)),
    sharedData: null,
  }))
}

/** The event of a deletion has only the id. */
function toDeletion({ kind, objectId, organizationId }: ChangeRow): Untimed[] {
  // The progress of a group is part of its deployments; entries of the API log only expire.
  if (kind === 'group' || kind === 'apilog') return []
  const data = JSON.stringify({ id: objectId, deleted: true })
  // A shared agent was visible to every organization.
  const sharedData = kind === 'agent' && organizationId === null ? data : null
  return [{ type: kind, organizationId, about: null, data, sharedData }]
}
