/** `/v1/group`: groups of the console and, read-only, root groups of the controller. Their relations: group-caches.ts. */
import { Type } from 'typebox'
import type { Route } from '../../http/route.js'
import {
  createGroup,
  deleteGroup,
  findGroup,
  listGroups,
  updateGroup,
  type ConsoleGroup,
} from './groups.js'
import type { StateService } from '../../service.js'
import { groupSchema, toGroupView } from './group-views.js'
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoutes,
  updateRoute,
  type ConsoleNoun,
} from '../noun-routes.js'
import { takePage } from '../pages.js'

export function groupNoun(service: StateService): ConsoleNoun<ConsoleGroup> {
  return {
    kind: 'group',
    names: { one: 'Group', many: 'Groups' },
    schema: groupSchema,
    view: toGroupView,
    find: (actor, id) => findGroup(service, actor, id),
  }
}

/** What is no field of these, as the relations, is ignored: it has calls of its own. */
const changeable = {
  /** Chosen by us: a paragraph. */
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  overviewGroup: Type.Optional(Type.Boolean()),
}

export function groupRoutes(service: StateService): readonly Route[] {
  const groups = groupNoun(service)
  return [
    ...listRoutes(groups, {
      summary: 'All groups that you may see; root groups of the controller too, read-only',
      read: async (actor, page) => takePage(await listGroups(service, actor), page),
    }),
    createRoute(groups, {
      summary: 'Makes a group, without caches, VCL and parameters',
      access: 'administer',
      body: Type.Object({ name: Type.String(), ...changeable }),
      run: ({ actor, body }) => createGroup(service, actor, body),
    }),
    getRoute(groups, 'One group'),
    updateRoute(groups, {
      summary: 'Changes its name, description or place on the first page',
      access: 'write',
      body: Type.Object({ name: Type.Optional(Type.String()), ...changeable }),
      run: ({ actor, object, body }) => updateGroup(service, actor, object, body),
    }),
    deleteRoute(groups, {
      summary: 'Deletes it; 409 while it has caches, a VCL or parameters, or is deployed',
      access: 'write',
      run: ({ object }) => deleteGroup(service, object),
    }),
  ]
}
