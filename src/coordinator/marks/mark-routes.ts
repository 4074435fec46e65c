/** `/marks/{start}/{end}`: the events of a time range, for marking in graphs (docs/behaviour.md, Marks). */
import { Type } from 'typebox'
import { markKinds, markObjectTypes, type Mark } from '../../resources/mark.js'
import { may, type Actor, type PermissionType } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { findVisibleAgents } from '../agents/agents.js'
import { idSchema, orNull, requireAccess, timeSchema } from '../api/references.js'
import { findGroup } from '../fleet/group-queries.js'
import { route, type Route } from '../http/route.js'
import { scopeOf, type StateService } from '../service.js'
import { requireRange } from '../statistics/archive/time-range.js'
import { readDeployMarks, readInvalidationMarks, readOutageMarks } from './mark-queries.js'

const errorKey = 'event'
const closed = { additionalProperties: false }
/** More lines than a chart can show. */
const maxMarks = 200

const readers = [
  ['vclgroup', readDeployMarks],
  ['invalidation', readInvalidationMarks],
  ['agent', readOutageMarks],
] as const

const markSchema = Type.Object(
  {
    at: timeSchema,
    kind: Type.Enum([...markKinds]),
    failed: Type.Boolean(),
    account: orNull(Type.String()),
    revision: orNull(Type.Integer()),
    object: Type.Object(
      { type: Type.Enum([...markObjectTypes]), id: idSchema, name: Type.String() },
      closed,
    ),
  },
  closed,
)

export function markRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/marks/{start}/{end}',
      operationId: 'listMarks',
      summary: `Deploys, invalidations and outages of caches since then: the newest ${maxMarks} of a range, as far as you may read them`,
      errorKey,
      permission: { type: 'stats', access: 'read' },
      query: Type.Object(
        {
          vclGroup: Type.Optional({ ...idSchema, description: 'Of this group and its caches' }),
          agent: Type.Optional({ ...idSchema, description: 'Of this agent and its groups' }),
        },
        closed,
      ),
      answers: {
        200: Type.Object(
          {
            marks: Type.Array(markSchema),
            more: Type.Boolean({ description: 'There are more, earlier in the range' }),
          },
          closed,
        ),
      },
      handle: async ({ actor, params, query }) => {
        const { start = '', end = '' } = params
        const { startMs, endMs } = requireRange({ start, end }, errorKey)
        const { vclGroup: groupId = null, agent: agentId = null } = query
        await requireSubject(service, actor, { groupId, agentId })
        const range = { startMs, endMs, groupId, agentId, limit: maxMarks + 1 }
        const { queries } = service.store
        const found: Mark[] = []
        for (const [type, read] of readers)
          if (may(actor, type, 'read')) found.push(...(await read(queries, scopeOf(actor), range)))
        const marks = found.sort((a, b) => b.at.localeCompare(a.at))
        return {
          status: 200,
          body: { marks: marks.slice(0, maxMarks), more: marks.length > maxMarks },
        }
      },
    }),
  ]
}

interface Subject {
  readonly groupId: number | null
  readonly agentId: number | null
}

/** Throws FleetError: 'forbidden' without permission to read it, 'invalid' if the caller may not see it. */
async function requireSubject(
  service: StateService,
  actor: Actor,
  { groupId, agentId }: Subject,
): Promise<void> {
  const require = (type: PermissionType, id: number, found: boolean): void => {
    requireAccess(actor, type, 'read', errorKey)
    if (found) return
    const name = type === 'agent' ? 'agent' : 'vclGroup'
    throw new FleetError('invalid', errorKey, `${name}: ${id} was not found`)
  }
  if (groupId !== null) {
    const group = await findGroup(service.store.queries, scopeOf(actor), groupId)
    require('vclgroup', groupId, group !== undefined)
  }
  if (agentId !== null) {
    const agents = await findVisibleAgents(service, actor, [agentId])
    require('agent', agentId, agents.length > 0)
  }
}
