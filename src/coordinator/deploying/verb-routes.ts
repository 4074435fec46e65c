/** `/vclgroups/{id}/…`: deploy, cancel, undeploy, reload, rollback, stage, promote, delstage, validate; state, placement, routing, history. */
import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { FleetError } from '../../errors.js'
import { releaseText } from '../../resources/cache-release.js'
import { stage } from '../../resources/vclgroup.js'
import { initSchema, orNull, referencesMost, requireAccess } from '../api/references.js'
import { requireReferences } from '../api/resource-routes.js'
import { givenBody } from '../api/resource-schemas.js'
import { readWait, waitSchema } from '../api/wait.js'
import { findGroup, type GroupRecord } from '../fleet/group-queries.js'
import { readHistory } from '../fleet/history-queries.js'
import {
  groupSchema,
  groupStateSchema,
  historySchema,
  placementSchema,
  routingSchema,
  toGroupView,
  toHistoryView,
} from '../groups/group-views.js'
import { viewGroup, viewGroupAgain } from '../groups/groups.js'
import { answerList, route, type Call, type Route } from '../http/route.js'
import { explainGroupPlacement } from '../placement/group-state.js'
import { scopeOf, type StateService } from '../service.js'
import { cancelDeploy } from './recover.js'
import { readGroupRouting, readNextRouting } from './routing.js'
import { dropStage, undeployVclGroup } from './undeploy.js'
import { explainStage } from './stage-reasons.js'
import { validateVclGroup } from './validate.js'
import {
  deployVclGroup,
  promoteVclGroup,
  reloadVclGroup,
  rollBackVclGroup,
  stageVclGroup,
  type VerbRequest,
} from './verbs.js'

const closed = { additionalProperties: false }

const waitQuery = Type.Object(
  {
    wait: Type.Optional(waitSchema),
    percent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Answer early once this share of the placed agents has applied; default 100',
      }),
    ),
  },
  closed,
)

const replaceQuery = {
  replace: Type.Optional(
    Type.Boolean({
      description:
        'Where other groups of the same owner hold an agent that it chooses, it is loaded beside them and takes their places; one that has no agent left is undeployed',
    }),
  ),
  force: Type.Optional(
    Type.Boolean({
      description: 'With replace: also where a group that keeps agents falls below its min',
    }),
  ),
}

const rollbackBody = Type.Object(
  { revision: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1 }))) },
  closed,
)

const validateQuery = Type.Object(
  {
    init: Type.Optional(initSchema),
    agents: Type.Optional(
      Type.Union([Type.Literal('one'), Type.Literal('all')], {
        description: 'one (the default): one of each release that fits; all: all that fit',
      }),
    ),
    release: Type.Optional(
      Type.Refine(
        Type.String({
          description:
            'What is deployed is compiled on an agent of this release, such as vinyl-9.0, wherever the group goes',
        }),
        (value) => releaseText.pattern.test(value),
        () => `must be ${releaseText.right}`,
      ),
    ),
  },
  closed,
)

const validatedSchema = Type.Object(
  {
    ...groupSchema.properties,
    compiledOn: Type.Integer({ description: 'Caches that it compiled on' }),
  },
  closed,
)

const placementQuery = Type.Object(
  {
    replace: Type.Optional(Type.Boolean({ description: 'As a deploy with replace would choose' })),
    stage: Type.Optional(
      Type.Boolean({
        description: 'Which agents could take a stage, whatever its tags: these are chosen',
      }),
    ),
    domains: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14})*$',
        maxLength: 16 * referencesMost,
        description: 'With stage: ids of the domains that it would serve; without them the group’s',
      }),
    ),
  },
  closed,
)

const routingQuery = Type.Object(
  {
    next: Type.Optional(
      Type.Boolean({ description: 'As a deploy would make it now, where it would be placed' }),
    ),
  },
  closed,
)

export function groupVerbRoutes(service: StateService): readonly Route[] {
  return [...changingRoutes(service), ...readingRoutes(service)]
}

function changingRoutes(service: StateService): readonly Route[] {
  return [
    verb(service, 'deploy', {
      summary: 'Deploys the group in two phases: all caches load it, then all switch to it',
      query: Type.Object({ ...waitQuery.properties, ...replaceQuery }, closed),
      run: (call) => {
        const replace = readReplace(call.query)
        return deployVclGroup(service, call.context, { ...toRequest(call), replace })
      },
    }),
    verb(service, 'undeploy', {
      summary: 'Undeploys the group from all caches',
      query: waitQuery,
      run: (call) => undeployVclGroup(service, call.context, toRequest(call)),
    }),
    verb(service, 'reload', {
      summary: 'Recompiles what the group serves under a new name, and switches to it',
      query: waitQuery,
      run: (call) => reloadVclGroup(service, call.context, toRequest(call)),
    }),
    verb(service, 'promote', {
      summary: 'Promotes the stage: the group takes its sources, is deployed, and the stage ends',
      query: waitQuery,
      run: (call) => promoteVclGroup(service, call.context, toRequest(call)),
    }),
    verb(service, 'cancel', {
      summary: 'Cancels a deploy that is loading: nothing switches, and its caller is answered 409',
      answers: { 200: groupSchema },
      run: ({ context, actor, object }) => cancelDeploy(service, context, actor, object),
    }),
    verb(service, 'rollback', {
      summary:
        'Rolls back to an earlier revision, without one to the newest with other sources; creates a new revision',
      query: waitQuery,
      body: rollbackBody,
      bodyOptional: true,
      run: (call) => {
        const revision = readRevision(call.body)
        return rollBackVclGroup(service, call.context, { ...toRequest(call), revision })
      },
    }),
    verb(service, 'stage', {
      summary:
        'Stages other sources of the group on all running agents with these tags, or on none',
      body: givenBody(stage, { description: 'What is left out is the group’s' }),
      run: ({ context, actor, object, body: files }) => {
        requireReferences(actor, stage, files, 'deploy')
        const request = toRequest({ actor, object, query: {} })
        return stageVclGroup(service, context, { ...request, files })
      },
    }),
    verb(service, 'delstage', {
      summary: 'Discards the stage; the group itself does not change',
      run: ({ context, actor, object }) =>
        dropStage(service, context, toRequest({ actor, object, query: {} })),
    }),
    verb(service, 'validate', {
      summary:
        'Checks the placement and compiles on one fitting agent of each release, or on all, changing nothing',
      asksOnly: true,
      permission: { type: 'vclgroup', access: 'read' },
      query: validateQuery,
      answers: { 200: validatedSchema },
      run: async ({ context, object, query }) => ({
        compiledOn: await validateVclGroup(service, context, object, query),
      }),
    }),
  ]
}

type VerbRoute<Body extends TSchema, Query extends TObject> = Pick<
  Route<Body, Query, GroupRecord>,
  'summary' | 'query' | 'body' | 'bodyOptional' | 'asksOnly'
> &
  Partial<Pick<Route, 'permission' | 'answers'>> & {
    /** Answers false while it goes on: 202; or what the answer has beside the group. */
    readonly run: (call: Call<Static<Body>, Static<Query>, GroupRecord>) => Promise<unknown>
  }

/** Each answers the group as it is then. */
function verb<Body extends TSchema, Query extends TObject>(
  service: StateService,
  name: string,
  { run, ...its }: VerbRoute<Body, Query>,
): Route {
  return route<Body, Query, GroupRecord, unknown>({
    method: 'PUT',
    path: `/vclgroups/{id}/${name}`,
    operationId: `${name}VclGroup`,
    errorKey: 'deploy',
    permission: { type: 'vclgroup', access: 'write' },
    find: (_, actor, id) => findGroup(service.store.queries, scopeOf(actor), id),
    answers: { 200: groupSchema, 202: groupSchema },
    ...its,
    handle: async (call) => {
      const done = await run(call)
      const view = await viewGroupAgain(service, call.actor, call.object.id)
      const more = typeof done === 'object' ? done : {}
      return { status: done === false ? 202 : 200, body: { ...toGroupView(view), ...more } }
    },
  })
}

function readingRoutes(service: StateService): readonly Route[] {
  return [
    reading(service, 'State', {
      summary: 'The state of a group',
      answers: { 200: groupStateSchema },
      handle: async ({ object }) => {
        const { state, stateName } = (await viewGroup(service, object)).status
        return { status: 200, body: { state, stateName } }
      },
    }),
    reading(service, 'Placement', {
      summary: 'Which agents are chosen for the group and which not, and why',
      query: placementQuery,
      answers: { 200: Type.Array(placementSchema) },
      handle: async ({ actor, object, query }) => {
        const { stage: isStage = false, domains } = query
        if (domains !== undefined) requireAccess(actor, 'domain', 'read', 'vclgroup')
        const staged = domains?.split(',').map((id) => ({ id: Number(id) }))
        const rows = isStage
          ? await explainStage(service, actor, object, staged)
          : await explainGroupPlacement(service, actor, object, query)
        return answerList(rows, rows.length)
      },
    }),
    reading(service, 'Routing', {
      summary: 'The generated VCL that routes to the group, on each agent where it stands',
      query: routingQuery,
      answers: { 200: routingSchema },
      handle: async ({ actor, object, query }) => {
        const readRouting = query.next === true ? readNextRouting : readGroupRouting
        return { status: 200, body: { agents: await readRouting(service, actor, object) } }
      },
    }),
    reading(service, 'History', {
      summary: 'What happened to the group, newest first',
      answers: { 200: Type.Array(historySchema) },
      handle: async ({ object }) => {
        const entries = await readHistory(service.store.queries, object.id)
        return answerList(entries.map(toHistoryView), entries.length)
      },
    }),
  ]
}

function reading<Query extends TObject>(
  service: StateService,
  what: string,
  its: Pick<Route<TSchema, Query, GroupRecord>, 'summary' | 'query' | 'answers' | 'handle'>,
): Route {
  return route<TSchema, Query, GroupRecord, unknown>({
    method: 'GET',
    path: `/vclgroups/{id}/${what.toLowerCase()}`,
    operationId: `getVclGroup${what}`,
    errorKey: 'vclgroup',
    permission: { type: 'vclgroup', access: 'read' },
    find: (_, actor, id) => findGroup(service.store.queries, scopeOf(actor), id),
    ...its,
  })
}

/** What every verb gets of a call. */
function toRequest({
  actor,
  object,
  query,
}: Pick<Call<unknown, Static<typeof waitQuery>, GroupRecord>, 'actor' | 'object' | 'query'>) {
  const { wait, percent = 100 } = query
  return { actor, groupId: object.id, waitMs: readWait(wait), percent } satisfies VerbRequest
}

/** Undefined when there is no body. Null: the newest revision with other sources. */
function readRevision(body: Static<typeof rollbackBody> | undefined): number | null {
  return body?.revision ?? null
}

/** Throws 'invalid' for force alone. */
function readReplace({
  replace = false,
  force = false,
}: {
  readonly replace?: boolean
  readonly force?: boolean
}) {
  if (force && !replace)
    throw new FleetError(
      'invalid',
      'deploy',
      'force is for a deploy that replaces others; give replace=true with it, or leave it out',
    )
  return replace ? { force } : undefined
}
