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
import { nounRoutes, type ConsoleNoun } from '../noun-routes.js'

export function groupNoun(service: StateService): ConsoleNoun<ConsoleGroup> {
  return {
    kind: 'group',
    names: { one: 'Group', many: 'Groups' },
    schema: groupSchema,
    view: toGroupView,
    find: (actor, id) => findGroup(service, actor, id),
  }
}

/** Other keys, such as the relations, are ignored: they have their own calls. */
const changeable = {
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  overviewGroup: Type.Optional(Type.Boolean()),
}

export function groupRoutes(service: StateService): readonly Route[] {
  const groups = groupNoun(service)
  return nounRoutes(groups, {
    list: {
      summary: 'All groups that you may see; root groups of the controller too, read-only',
      read: (actor) => listGroups(service, actor),
    },
    create: {
      summary: 'Creates a group, without caches, VCL and parameters',
      access: 'administer',
      body: Type.Object({ name: Type.String(), ...changeable }),
      run: ({ actor, body }) => createGroup(service, actor, body),
    },
    get: { summary: 'One group' },
    update: {
      summary: 'Changes its name, description or place on the first page',
      access: 'write',
      body: Type.Object({ name: Type.Optional(Type.String()), ...changeable }),
      run: ({ actor, object, body }) => updateGroup(service, actor, object, body),
    },
    delete: {
      summary: 'Deletes it; 409 while it has caches, a VCL or parameters, or is deployed',
      access: 'write',
      run: ({ object }) => deleteGroup(service, object),
    },
  })
}
