/** `/v1/group`: groups of the console and, read-only, root groups of the controller. Their relations: group-caches.ts. */
import { Type } from 'typebox'
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { route, type Route } from '../../http/route.js'
import { createGroup, deleteGroup, findGroup, listGroups, updateGroup } from './groups.js'
import type { StateService } from '../../service.js'
import { groupSchema, toGroupView } from './group-views.js'
import { listRoutes } from '../list-routes.js'

const errorKey = 'group'
const read = { console: 'read' } as const
const write = { console: 'write' } as const

/** What is no field of these, as the relations, is ignored: it has calls of its own. */
const changeable = {
  /** Chosen by us: a paragraph. */
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  overviewGroup: Type.Optional(Type.Boolean()),
}

export function groupRoutes(service: StateService): readonly Route[] {
  return [...collectionRoutes(service), ...objectRoutes(service)]
}

/** What the routes of one group have in common. */
export function groupById(service: StateService) {
  return {
    errorKey,
    readId: (text: string) => parseObjectId('group', text),
    find: (_: unknown, actor: Actor, id: number) => findGroup(service, actor, id),
  } as const
}

function collectionRoutes(service: StateService): readonly Route[] {
  return [
    ...listRoutes({
      path: '/v1/group',
      operationId: 'listGroups',
      summary: 'All groups that you may see; root groups of the controller too, read-only',
      errorKey,
      schema: groupSchema,
      read: (actor) => listGroups(service, actor),
      view: toGroupView,
    }),
    route({
      method: 'POST',
      path: '/v1/group',
      operationId: 'createGroup',
      summary: 'Makes a group, without caches, VCL and parameters',
      errorKey,
      permission: { console: 'administer' },
      ignoresUnknownKeys: true,
      body: Type.Object({ name: Type.String(), ...changeable }),
      answers: { 201: groupSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toGroupView(await createGroup(service, actor, body)),
      }),
    }),
  ]
}

function objectRoutes(service: StateService): readonly Route[] {
  const path = '/v1/group/{id}'
  const byId = groupById(service)
  return [
    route({
      ...byId,
      method: 'GET',
      path,
      operationId: 'getGroup',
      summary: 'One group',
      permission: read,
      answers: { 200: groupSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toGroupView(object) }),
    }),
    route({
      ...byId,
      method: 'PATCH',
      path,
      operationId: 'updateGroup',
      summary: 'Changes its name, description or place on the first page',
      permission: write,
      ignoresUnknownKeys: true,
      body: Type.Object({ name: Type.Optional(Type.String()), ...changeable }),
      answers: { 200: groupSchema },
      handle: async ({ actor, object, body }) => ({
        status: 200,
        body: toGroupView(await updateGroup(service, actor, object, body)),
      }),
    }),
    route({
      ...byId,
      method: 'DELETE',
      path,
      operationId: 'deleteGroup',
      summary: 'Deletes it; 409 while it has caches, a VCL or parameters, or is deployed',
      permission: write,
      answers: { 204: null },
      handle: async ({ object }) => {
        await deleteGroup(service, object)
        return { status: 204 }
      },
    }),
  ]
}
