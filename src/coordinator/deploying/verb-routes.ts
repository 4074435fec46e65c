/** Routes under `/vclgroups/{id}/`: the verbs (deploy to validate), and reads of state, placement, routing, plan and history. */
import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { FleetError } from '../../errors.js'
import { stage } from '../../resources/vclgroup.js'
import { requireAccess } from '../api/references.js'
import { requireReferences } from '../api/resource-routes.js'
import { givenBody } from '../api/resource-schemas.js'
import { readWait } from '../api/wait.js'
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
import { requireThawed } from '../identity/require-thawed.js'
import { explainGroupPlacement } from '../placement/group-state.js'
import { requirePolicy } from '../rollouts/require-policy.js'
import { abortRunning } from '../rollouts/running-rollout.js'
import { scopeOf, type StateService } from '../service.js'
import { cancelDeploy } from './recover.js'
import { planVerb } from './plan-verb.js'
import { readGroupRouting, readNextRouting } from './routing.js'
import { dropStage, undeployVclGroup } from './undeploy.js'
import { askTests, runRelease, runAsRollout, type Outcome } from './verb-outcome.js'
import { explainStage } from './stage-reasons.js'
import { validateVclGroup } from './validate.js'
import {
  abortQuery,
  changingQuery,
  deployBody,
  deployQuery,
  placementQuery,
  promoteQuery,
  planQuery,
  planSchema,
  rollbackBody,
  releasedAnswers,
  rollbackQuery,
  rolloutAnswers,
  routingQuery,
  validatedSchema,
  validateQuery,
  type waitQuery,
} from './verb-schemas.js'
import {
  deployVclGroup,
  promoteVclGroup,
  reloadVclGroup,
  rollBackVclGroup,
  stageVclGroup,
  type VerbRequest,
} from './verbs.js'

export function groupVerbRoutes(service: StateService): readonly Route[] {
  return [...releasingRoutes(service), ...otherRoutes(service), ...readingRoutes(service)]
}

/** Verbs that put another release on caches, possibly in waves. */
function releasingRoutes(service: StateService): readonly Route[] {
  return [
    verb(service, 'deploy', {
      summary: 'Deploys the group in two phases: all caches load it, then all switch to it',
      query: deployQuery,
      body: deployBody,
      bodyOptional: true,
      answers: releasedAnswers,
      run: async (call) => {
        const replace = readReplace(call.query)
        const rollout = await readPolicy(service, call)
        if (rollout && replace)
          throw new FleetError(
            'invalid',
            'deploy',
            'a deploy that replaces others switches all at once; leave rollout or replace out',
          )
        const asked = { ...toRequest(call), replace, rollout }
        return runRelease(call, (callbacks) =>
          deployVclGroup(service, call.context, { ...asked, ...callbacks }),
        )
      },
    }),
    verb(service, 'promote', {
      summary: 'Promotes the stage: the group takes its sources, is deployed, and the stage ends',
      query: promoteQuery,
      answers: releasedAnswers,
      run: (call) => {
        const asked = { ...toRequest(call), group: call.object }
        return runRelease(call, (callbacks) =>
          promoteVclGroup(service, call.context, { ...asked, ...callbacks }),
        )
      },
    }),
    verb(service, 'rollback', {
      summary:
        'Rolls back to an earlier revision, without one to the newest with other sources; creates a new revision',
      query: rollbackQuery,
      answers: rolloutAnswers,
      body: rollbackBody,
      bodyOptional: true,
      run: (call) => {
        const asked = { ...toRequest(call), revision: readRevision(call.body) }
        return runAsRollout((onRollout) =>
          rollBackVclGroup(service, call.context, { ...asked, onRollout }),
        )
      },
    }),
  ]
}

function otherRoutes(service: StateService): readonly Route[] {
  return [
    verb(service, 'undeploy', {
      summary: 'Undeploys the group from all caches',
      query: changingQuery,
      run: (call) => undeployVclGroup(service, call.context, toRequest(call)),
    }),
    verb(service, 'reload', {
      summary: 'Recompiles what the group serves under a new name, and switches to it',
      query: changingQuery,
      run: (call) => reloadVclGroup(service, call.context, toRequest(call)),
    }),
    verb(service, 'cancel', {
      summary:
        'Cancels a deploy that is loading: no cache switches, and the waiting request is answered 409',
      answers: { 200: groupSchema },
      run: ({ context, actor, object }) => cancelDeploy(service, context, actor, object),
    }),
    verb(service, 'stage', {
      summary:
        'Stages other sources of the group on all running agents with these tags, or on none',
      query: abortQuery,
      body: givenBody(stage, { description: 'What is left out is the group’s' }),
      run: ({ context, actor, object, body: files }) => {
        requireReferences(actor, stage, files, 'deploy')
        const request = toRequest({ actor, object, query: {} })
        return stageVclGroup(service, context, { ...request, files })
      },
    }),
    verb(service, 'delstage', {
      summary: 'Discards the stage; the group itself does not change',
      query: abortQuery,
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
      run: (call) => {
        const tests = askTests(call)
        return validateVclGroup(service, call.context, call.object, { ...call.query, tests })
      },
    }),
  ]
}

type VerbRoute<Body extends TSchema, Query extends TObject> = Pick<
  Route<Body, Query, GroupRecord>,
  'summary' | 'query' | 'body' | 'bodyOptional' | 'asksOnly'
> &
  Partial<Pick<Route, 'permission' | 'answers'>> & {
    /** Returns false (status 202) while the work goes on, or the additional fields of the response. */
    readonly run: (call: Call<Static<Body>, Static<Query>, GroupRecord>) => Promise<unknown>
  }

/** Each verb responds with the group as it is afterwards. */
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
      const { actor, context, object } = call
      const query = refusedVerbs.has(name) ? await requireThawed(service, call) : call.query
      if ((query as Static<typeof abortQuery>).abort === true) {
        const untilMs = service.now() + readWait((query as Static<typeof waitQuery>).wait)
        await abortRunning(service, context, object.id, { account: actor.accountName, untilMs })
      }
      const done = await run({ ...call, query })
      const view = await viewGroupAgain(service, actor, object.id)
      const { goesOn = false, ...more }: Outcome = typeof done === 'object' ? (done ?? {}) : {}
      const status = done === false || goesOn ? 202 : 200
      return { status, body: { ...toGroupView(view), ...more } }
    },
  })
}

/** Verbs that a freeze refuses, since they change what caches serve or hold. A rollback is allowed: it ends incidents. */
const refusedVerbs = new Set(['deploy', 'undeploy', 'reload', 'promote', 'stage', 'delstage'])

/** Undefined: by the group's policy. */
async function readPolicy(
  service: StateService,
  {
    body,
    object,
  }: Pick<Call<Static<typeof deployBody> | undefined, unknown, GroupRecord>, 'body' | 'object'>,
) {
  const given = body?.rollout
  if (!given) return given
  const { organizationId, domains } = object
  const fqdns = domains.map(({ fqdn }) => fqdn)
  return requirePolicy(service.store.queries, given, { organizationId, errorKey: 'deploy', fqdns })
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
    reading(service, 'Plan', {
      summary: 'What a verb of the group would change now, file by file and agent by agent',
      query: planQuery,
      answers: { 200: planSchema },
      handle: async ({ actor, object: group, query }) => {
        const { verb, revision = null } = query
        if (revision !== null && verb !== 'rollback')
          throw new FleetError('invalid', 'vclgroup', 'revision: only a rollback has one')
        const asked = { actor, group, verb, revision, replace: readReplace(query) }
        return { status: 200, body: await planVerb(service, asked) }
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

/** The part of a call that every verb needs. */
function toRequest({
  actor,
  object,
  query,
}: Pick<Call<unknown, Static<typeof waitQuery>, GroupRecord>, 'actor' | 'object' | 'query'>) {
  const { wait, percent = 100 } = query
  return { actor, groupId: object.id, waitMs: readWait(wait), percent } satisfies VerbRequest
}

/** The body is optional. Null: the newest revision with other sources. */
function readRevision(body: Static<typeof rollbackBody> | undefined): number | null {
  return body?.revision ?? null
}

/** Throws 'invalid' for force without replace. */
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
