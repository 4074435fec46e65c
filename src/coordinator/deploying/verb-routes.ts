/** `/vclgroups/{id}/…`: deploy, cancel, undeploy, reload, rollback, stage, promote, delstage, validate; state, placement, routing, history (choices: 3). */
import { Type, type Static } from 'typebox'
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { answerList, route, type Answer, type Route } from '../http/route.js'
import { deployVclGroup, type VerbAnswer, type VerbRequest } from './deploy.js'
import { cancelDeploy } from './deploy-cancel.js'
import { dropStage } from './delstage.js'
import { explainGroupPlacement } from '../placement/group-state.js'
import { readGroupHistory } from '../groups/history.js'
import { readNextRouting } from './next-routing.js'
import { promoteVclGroup } from './promote.js'
import { readGroupRouting } from './routing.js'
import { reloadVclGroup } from './reload.js'
import { rollBackVclGroup } from './rollback.js'
import { stageVclGroup } from './stage.js'
import { scopeOf, type StateService } from '../service.js'
import { undeployVclGroup } from './undeploy.js'
import { validateVclGroup } from './validate.js'
import { findGroup } from '../fleet/group-queries.js'
import { viewGroup, viewGroupAgain } from '../groups/groups.js'
import { placementQuery, readReplace, replaceQuery } from './group-replacing.js'
import { stage } from '../../resources/vclgroup.js'
import { initSchema, orNull } from '../api/references.js'
import { requireReferences } from '../api/resource-routes.js'
import { givenBody } from '../api/resource-schemas.js'
import {
  groupSchema,
  groupStateSchema,
  historySchema,
  placementSchema,
  routingSchema,
  toGroupView,
  toHistoryView,
} from '../groups/group-views.js'

const read = { type: 'vclgroup', access: 'read' } as const
const write = { type: 'vclgroup', access: 'write' } as const
const closed = { additionalProperties: false }

const waitSecondsDefault = 60
const waitSecondsMost = 600
const waitQuery = Type.Object(
  {
    wait: Type.Optional(
      Type.String({
        description: `Whole seconds, optionally with s; 0 to ${waitSecondsMost}, default ${waitSecondsDefault}`,
      }),
    ),
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

const routingQuery = Type.Object(
  {
    next: Type.Optional(
      Type.Boolean({ description: 'As a deploy would make it now, where it would be placed' }),
    ),
  },
  closed,
)

type Verb = (
  service: StateService,
  context: Context,
  actor: Actor,
  request: VerbRequest,
) => Promise<VerbAnswer>

export function groupVerbRoutes(service: StateService): readonly Route[] {
  return [
    deployRoute(service),
    changeRoute(service, {
      name: 'undeploy',
      summary: 'Takes the group from all caches',
      run: undeployVclGroup,
    }),
    changeRoute(service, {
      name: 'reload',
      summary: 'Compiles what the group serves once more, under a new name, and switches to it',
      run: reloadVclGroup,
    }),
    changeRoute(service, {
      name: 'promote',
      summary: 'Makes what is staged the group’s own, deploys it, and ends the stage',
      run: promoteVclGroup,
    }),
    cancelRoute(service),
    rollbackRoute(service),
    stageRoute(service),
    delstageRoute(service),
    validateRoute(service),
    ...readingRoutes(service),
  ]
}

/** What the routes of all verbs have in common. */
function verbOf(service: StateService, name: string) {
  return {
    method: 'PUT',
    path: `/vclgroups/{id}/${name}`,
    operationId: `${name}VclGroup`,
    errorKey: 'deploy',
    permission: write,
    find: (_: Context, actor: Actor, id: number) =>
      findGroup(service.store.queries, scopeOf(actor), id),
    answers: { 200: groupSchema, 202: groupSchema },
  } as const
}

function changeRoute(
  service: StateService,
  verb: { readonly name: string; readonly summary: string; readonly run: Verb },
): Route {
  return route({
    ...verbOf(service, verb.name),
    summary: verb.summary,
    query: waitQuery,
    handle: async ({ context, actor, object, query }) => {
      const { completed } = await verb.run(service, context, actor, toRequest(object.id, query))
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function deployRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'deploy'),
    summary: 'Puts the group on caches in two phases: all load it, then all switch to it',
    query: Type.Object({ ...waitQuery.properties, ...replaceQuery }, closed),
    handle: async ({ context, actor, object, query }) => {
      const { completed } = await deployVclGroup(service, context, actor, {
        ...toRequest(object.id, query),
        replace: readReplace(query),
      })
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function cancelRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'cancel'),
    summary: 'Ends a deploy that is loading: nothing switches, and its caller is answered 409',
    answers: { 200: groupSchema },
    handle: async ({ context, actor, object }) => {
      await cancelDeploy(service, context, actor, object)
      return answerGroup(service, actor, object.id, 200)
    },
  })
}

function rollbackRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'rollback'),
    summary:
      'Back to an earlier revision, without one the newest with other sources; makes a new revision',
    query: waitQuery,
    body: Type.Object(
      { revision: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1 }))) },
      closed,
    ),
    bodyOptional: true,
    handle: async ({ context, actor, object, query, body }) => {
      const { completed } = await rollBackVclGroup(service, context, actor, {
        ...toRequest(object.id, query),
        revision: readRevision(body),
      })
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function stageRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'stage'),
    summary: 'Puts other sources of the group on all running agents with these tags, or on none',
    body: givenBody(stage, { description: 'What is left out is the group’s' }),
    handle: async ({ context, actor, object, body }) => {
      requireReferences(actor, stage, body, 'deploy')
      const request = { ...body, groupId: object.id }
      const { completed } = await stageVclGroup(service, context, actor, request)
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function delstageRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'delstage'),
    summary: 'Drops what is staged; the group itself stays as it is',
    handle: async ({ context, actor, object }) => {
      const { completed } = await dropStage(service, context, actor, object.id)
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function validateRoute(service: StateService): Route {
  return route({
    ...verbOf(service, 'validate'),
    summary: 'Checks the placement and compiles on one fitting agent, or on all, changing nothing',
    asksOnly: true,
    permission: read,
    query: Type.Object(
      {
        init: Type.Optional(initSchema),
        agents: Type.Optional(
          Type.Union([Type.Literal('one'), Type.Literal('all')], {
            description: 'one (the default): the first that a deploy would use; all: all that fit',
          }),
        ),
      },
      closed,
    ),
    answers: { 200: groupSchema },
    handle: async ({ context, actor, object, query }) => {
      const { agents = 'one', init = false } = query
      await validateVclGroup(service, context, actor, { groupId: object.id, agents, init })
      return answerGroup(service, actor, object.id, 200)
    },
  })
}

function readingRoutes(service: StateService): readonly Route[] {
  const { find } = verbOf(service, 'state')
  return [
    route({
      method: 'GET',
      path: '/vclgroups/{id}/state',
      operationId: 'getVclGroupState',
      summary: 'The state of a group',
      errorKey: 'vclgroup',
      permission: read,
      find,
      answers: { 200: groupStateSchema },
      handle: async ({ object }) => {
        const { state, stateName } = (await viewGroup(service, object)).status
        return { status: 200, body: { state, stateName } }
      },
    }),
    route({
      method: 'GET',
      path: '/vclgroups/{id}/placement',
      operationId: 'getVclGroupPlacement',
      summary: 'Which agents are chosen for the group and which not, and why',
      errorKey: 'vclgroup',
      permission: read,
      find,
      query: placementQuery,
      answers: { 200: Type.Array(placementSchema) },
      handle: async ({ actor, object, query }) => {
        const rows = await explainGroupPlacement(service, actor, object, {
          replace: query.replace === true,
        })
        return answerList(rows, rows.length)
      },
    }),
    route({
      method: 'GET',
      path: '/vclgroups/{id}/routing',
      operationId: 'getVclGroupRouting',
      summary: 'The generated VCL that routes to the group, on each agent where it stands',
      errorKey: 'vclgroup',
      permission: read,
      find,
      query: routingQuery,
      answers: { 200: routingSchema },
      handle: async ({ actor, object, query }) => {
        const readRouting = query.next === true ? readNextRouting : readGroupRouting
        return { status: 200, body: { agents: await readRouting(service, actor, object) } }
      },
    }),
    route({
      method: 'GET',
      path: '/vclgroups/{id}/history',
      operationId: 'getVclGroupHistory',
      summary: 'What happened to the group, newest first',
      errorKey: 'vclgroup',
      permission: read,
      find,
      answers: { 200: Type.Array(historySchema) },
      handle: async ({ object }) => {
        const entries = await readGroupHistory(service, object)
        return answerList(entries.map(toHistoryView), entries.length)
      },
    }),
  ]
}

async function answerGroup(
  service: StateService,
  actor: Actor,
  id: number,
  status: 200 | 202,
): Promise<Answer> {
  return { status, body: toGroupView(await viewGroupAgain(service, actor, id)) }
}

/** The body is optional: undefined when there is none. Null: the newest revision with other sources. */
function readRevision(body: { readonly revision?: number | null } | undefined): number | null {
  return body?.revision ?? null
}

function toRequest(groupId: number, query: Static<typeof waitQuery>): VerbRequest {
  return { groupId, waitMs: readWait(query.wait), percent: query.percent ?? 100 }
}

/** `60s` or `60` (choices: 3, Deploy). Milliseconds. */
function readWait(wait: string | undefined): number {
  if (wait === undefined) return waitSecondsDefault * 1000
  const [, seconds] = /^(\d{1,4})s?$/.exec(wait) ?? []
  if (seconds === undefined || Number(seconds) > waitSecondsMost)
    throw new FleetError(
      'invalid',
      'deploy',
      `wait is ${JSON.stringify(wait.slice(0, 80))}; whole seconds from 0 to ${waitSecondsMost} are right, like 60s`,
    )
  return Number(seconds) * 1000
}
