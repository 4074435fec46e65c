/** `/vclgroups/{id}/…`: deploy, undeploy, validate; state, placement, history (choices: 3). */
import { Type } from 'typebox'
import type { Context } from '../../context.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { answerList, route, type Answer, type Route } from '../http/route.js'
import { deployVclGroup, type VerbAnswer, type VerbRequest } from '../state-service/deploy.js'
import { explainGroupPlacement } from '../state-service/group-state.js'
import { readGroupHistory } from '../state-service/history.js'
import type { StateService } from '../state-service/service.js'
import { undeployVclGroup } from '../state-service/undeploy.js'
import { validateVclGroup } from '../state-service/validate.js'
import { findGroup, viewGroup, viewGroupAgain } from '../state-service/vcl-groups.js'
import {
  groupSchema,
  groupStateSchema,
  historySchema,
  placementSchema,
  toGroupStateView,
  toGroupView,
  toHistoryView,
  toPlacementView,
} from './group-views.js'

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

type Verb = (
  service: StateService,
  context: Context,
  actor: Actor,
  request: VerbRequest,
) => Promise<VerbAnswer>

export function groupVerbRoutes(service: StateService): readonly Route[] {
  return [
    changeRoute(service, {
      name: 'deploy',
      summary: 'Puts the group on caches in two phases: all load it, then all switch to it',
      run: deployVclGroup,
    }),
    changeRoute(service, {
      name: 'undeploy',
      summary: 'Takes the group from all caches',
      run: undeployVclGroup,
    }),
    validateRoute(service),
    ...readingRoutes(service),
  ]
}

function changeRoute(
  service: StateService,
  verb: { readonly name: string; readonly summary: string; readonly run: Verb },
): Route {
  return route({
    method: 'PUT',
    path: `/vclgroups/{id}/${verb.name}`,
    operationId: `${verb.name}VclGroup`,
    summary: verb.summary,
    errorKey: 'deploy',
    permission: write,
    find: (_, actor, id) => findGroup(service, actor, id),
    query: waitQuery,
    answers: { 200: groupSchema, 202: groupSchema },
    handle: async ({ context, actor, object, query }) => {
      const { completed } = await verb.run(service, context, actor, {
        groupId: object.id,
        waitMs: readWait(query.wait),
        percent: query.percent ?? 100,
      })
      return answerGroup(service, actor, object.id, completed ? 200 : 202)
    },
  })
}

function validateRoute(service: StateService): Route {
  return route({
    method: 'PUT',
    path: '/vclgroups/{id}/validate',
    operationId: 'validateVclGroup',
    summary: 'Checks the placement and compiles on one fitting agent, changing nothing',
    errorKey: 'deploy',
    permission: read,
    find: (_, actor, id) => findGroup(service, actor, id),
    answers: { 200: groupSchema },
    handle: async ({ context, actor, object }) => {
      await validateVclGroup(service, context, actor, object.id)
      return answerGroup(service, actor, object.id, 200)
    },
  })
}

function readingRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findGroup(service, actor, id)
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
        const { status } = await viewGroup(service, object)
        return { status: 200, body: toGroupStateView(status) }
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
      answers: { 200: Type.Array(placementSchema) },
      handle: async ({ object }) => {
        const rows = await explainGroupPlacement(service, object)
        return answerList(rows.map(toPlacementView), rows.length)
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
