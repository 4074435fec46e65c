/** What the API answers about VCL groups: one schema and one function for each shape. */
import { Type } from 'typebox'
import type { GroupStatus, PlacementExplanation } from '../placement/group-state.js'
import type { HistoryEntry } from '../fleet/history-queries.js'
import type { GroupView } from './groups.js'
import {
  idSchema,
  managedBySchema,
  orNull,
  organizationSchema,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import { toIso } from '../api/times.js'

const closed = { additionalProperties: false }

const stateSchema = Type.Integer({
  description: '1 Active, 2 Inactive, 3 Degraded, 4 Error, 5 Orphan, 6 Deploying',
})

const domainReferenceSchema = Type.Object({ id: idSchema, fqdn: Type.String() }, closed)

const fileVersionSchema = Type.Object(
  { id: idSchema, name: Type.String(), version: Type.Integer() },
  closed,
)

const stagedSchema = Type.Object(
  {
    tags: Type.Array(referenceSchema),
    domains: Type.Array(domainReferenceSchema),
    mainVCL: fileVersionSchema,
    includes: Type.Array(fileVersionSchema),
  },
  { ...closed, description: 'What is staged, at the versions that it was staged with' },
)

/** Chosen by us: tells what a deploy would change, without one. */
const wishSchema = Type.Object(
  {
    mainVCL: fileVersionSchema,
    includes: Type.Array(fileVersionSchema),
    domains: Type.Array(domainReferenceSchema),
    deployments: Type.Array(Type.Object({ id: idSchema }, closed)),
    pending: Type.Boolean({ description: 'It waits for agents' }),
  },
  { ...closed, description: 'What the newest deploy pinned' },
)

export const groupSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    organization: organizationSchema,
    root: Type.Boolean({ description: 'Its VCL is the whole VCL of each cache' }),
    console: Type.Boolean({
      description: 'It is a group of the console: changed there (/api/v1/group), only read here',
    }),
    keepOnFailure: Type.Boolean(),
    mainVCL: orNull(
      Type.Object(
        {
          id: idSchema,
          name: Type.String(),
          version: Type.Optional(Type.Integer({ description: 'Only when one is pinned' })),
        },
        { description: "null: a console's group without VCL" },
      ),
    ),
    includes: Type.Array(referenceSchema),
    domains: Type.Array(domainReferenceSchema),
    deployments: Type.Array(referenceSchema),
    deployed: Type.Boolean({ description: 'The wish' }),
    state: stateSchema,
    stateName: Type.String(),
    revision: Type.Integer({ description: 'The newest that was switched to; 0 before the first' }),
    agentStates: Type.Array(
      Type.Object(
        {
          agent: referenceSchema,
          state: Type.String({ description: 'wanted, applying, applied or failed' }),
          revision: orNull(Type.Integer()),
          error: orNull(Type.String()),
          deployedAt: orNull(timeSchema),
        },
        closed,
      ),
    ),
    staged: orNull(stagedSchema),
    wish: orNull(wishSchema),
    managedBy: managedBySchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

/** What people edit. */
export function toGroupFields(group: GroupView['group']) {
  const { name, root, keepOnFailure, includes, domains, managedBy } = group
  const deployments = group.console ? [] : group.deployments
  const { mainFile, mainFileVersion } = group
  const mainVCL =
    mainFile === null || mainFileVersion === null
      ? mainFile
      : { ...mainFile, version: mainFileVersion }
  return { name, root, keepOnFailure, mainVCL, includes, domains, deployments, managedBy }
}

export function toGroupView({ group, organization, status, staged }: GroupView) {
  return {
    id: group.id,
    organization,
    ...toGroupFields(group),
    console: group.console,
    deployed: group.deployed || status.deploying,
    state: status.state,
    stateName: status.stateName,
    revision: group.revision,
    agentStates: status.agentStates.map((place) => ({
      ...place,
      deployedAt: orIso(place.deployedAt),
    })),
    staged,
    wish: toWishView(group),
    created: toIso(group.createdAt),
    updated: toIso(group.updatedAt),
  }
}

function toWishView({ wish, wishPending, console }: GroupView['group']) {
  if (wish === null) return null
  const { mainVCL, includes, domains, deploymentIds } = wish
  const deployments = console ? [] : deploymentIds.map((id) => ({ id }))
  return { mainVCL, includes, domains, deployments, pending: wishPending }
}

export const groupStateSchema = Type.Object(
  { state: stateSchema, stateName: Type.String() },
  closed,
)

export function toGroupStateView({ state, stateName }: GroupStatus) {
  return { state, stateName }
}

export const placementSchema = Type.Object(
  {
    agent: referenceSchema,
    deployment: orNull(referenceSchema),
    chosen: Type.Boolean(),
    reason: Type.String(),
  },
  closed,
)

export function toPlacementView({ agent, deployment, chosen, reason }: PlacementExplanation) {
  return { agent, deployment, chosen, reason }
}

export const routingSchema = Type.Object(
  {
    agents: Type.Array(
      Type.Object(
        {
          agent: referenceSchema,
          source: Type.String({ description: 'The generated VCL that routes requests there' }),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const historySchema = Type.Object(
  {
    revision: orNull(Type.Integer({ description: 'null: a deploy that failed' })),
    at: timeSchema,
    account: Type.String(),
    action: Type.String(),
    result: Type.String({ description: 'ok, or the error text' }),
    mainVCL: fileVersionSchema,
    includes: Type.Array(fileVersionSchema),
    replaced: Type.Array(referenceSchema, { description: 'Groups whose places it took' }),
    replacedBy: orNull(
      Type.Object(referenceSchema.properties, {
        ...closed,
        description: 'The group that took the last place of this one, which ended it',
      }),
    ),
  },
  closed,
)

export function toHistoryView(entry: HistoryEntry) {
  return {
    revision: entry.revision,
    at: toIso(entry.at),
    account: entry.account,
    action: entry.action,
    result: entry.result,
    mainVCL: entry.sources.mainVCL,
    includes: entry.sources.includes,
    replaced: entry.replaced ?? [],
    replacedBy: entry.replacedBy ?? null,
  }
}

function orIso(at: number | null): string | null {
  return at === null ? null : toIso(at)
}
