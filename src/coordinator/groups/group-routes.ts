/** `/vclgroups`: one main VCL, its includes, its domains, and the deployments that place it. The verbs: deploying/verb-routes.ts. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  createGroup,
  deleteGroup,
  findGroup,
  groupListFields,
  listGroups,
  updateGroup,
  viewGroup,
} from './groups.js'
import { domainsSchema, includesSchema, mainSchema, requireReferences } from './group-bodies.js'
import { groupSchema, toGroupFields, toGroupView } from './group-views.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  managedBySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referencesTo,
} from '../api/references.js'
import { deploymentSchema } from '../deployments/deployment-view.js'

const errorKey = 'vclgroup'
const read = { type: 'vclgroup', access: 'read' } as const
const write = { type: 'vclgroup', access: 'write' } as const
const closed = { additionalProperties: false }
const ignoredKeys = [
  ...readOnlyKeys,
  'console',
  'deployed',
  'state',
  'stateName',
  'revision',
  'agentStates',
  'staged',
  'wish',
]

const changeable = {
  managedBy: Type.Optional(managedBySchema),
  root: Type.Optional(
    orNull(Type.Boolean({ description: 'Follows the domains: true without, false with some' })),
  ),
  keepOnFailure: Type.Optional(orNull(Type.Boolean({ default: true }))),
  includes: includesSchema,
  domains: domainsSchema,
  deployments: Type.Optional(orNull(referencesTo(Object.keys(deploymentSchema.properties)))),
}

export function vclGroupRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findGroup(service, actor, id)
  const edit = editing(service, {
    keys: [
      'name',
      'root',
      'keepOnFailure',
      'mainVCL',
      'includes',
      'domains',
      'deployments',
      'managedBy',
    ],
    find: findGroup,
    view: toGroupFields,
  })
  return [
    route({
      method: 'GET',
      path: '/vclgroups',
      operationId: 'listVclGroups',
      summary: 'VCL groups with their state and places',
      errorKey,
      permission: read,
      query: listQuerySchema(groupListFields),
      answers: { 200: Type.Array(groupSchema) },
      handle: async ({ actor, query }) => {
        const found = await listGroups(service, actor, query)
        return answerList(mapRows(found, toGroupView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/vclgroups',
      operationId: 'createVclGroup',
      summary: 'Makes a VCL group; nothing is deployed by that',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        { name: nameSchema, mainVCL: mainSchema, ...changeable, organization: ownerReference },
        closed,
      ),
      ignoredKeys,
      answers: { 201: groupSchema },
      handle: async ({ actor, body }) => {
        requireReferences(actor, body, errorKey)
        return { status: 201, body: toGroupView(await createGroup(service, actor, body)) }
      },
    }),
    route({
      method: 'GET',
      path: '/vclgroups/{id}',
      operationId: 'getVclGroup',
      summary: 'One VCL group',
      errorKey,
      permission: read,
      edit,
      find,
      answers: { 200: groupSchema },
      handle: async ({ object }) => ({
        status: 200,
        body: toGroupView(await viewGroup(service, object)),
      }),
    }),
    route({
      method: 'PUT',
      path: '/vclgroups/{id}',
      operationId: 'updateVclGroup',
      summary: 'Changes a VCL group; it takes effect at its next deploy',
      errorKey,
      permission: write,
      edit,
      find,
      body: Type.Object(
        { name: Type.Optional(nameSchema), mainVCL: Type.Optional(mainSchema), ...changeable },
        closed,
      ),
      ignoredKeys,
      answers: { 200: groupSchema },
      handle: async ({ actor, object, body, guarded }) => {
        requireReferences(actor, body, errorKey)
        return { status: 200, body: toGroupView(await updateGroup(guarded, actor, object, body)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/vclgroups/{id}',
      operationId: 'deleteVclGroup',
      summary: 'Deletes a VCL group; 409 while it is deployed',
      errorKey,
      permission: write,
      edit,
      find,
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteGroup(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}
