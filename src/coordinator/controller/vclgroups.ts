/** `/vclgroups`: one main VCL, its includes, and the deployments that place it. The verbs: group-verbs.ts. */
import { Type } from 'typebox'
import type { Actor, PermissionType } from '../../domain/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import {
  createGroup,
  deleteGroup,
  findGroup,
  groupListFields,
  listGroups,
  updateGroup,
  viewGroup,
} from '../state-service/vcl-groups.js'
import { groupSchema, toGroupView } from './group-views.js'
import {
  listQuerySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referencesTo,
  referenceTo,
  requireAccess,
} from './references.js'
import { deploymentSchema, wholeFileSchema } from './views.js'

const errorKey = 'vclgroup'
const read = { type: 'vclgroup', access: 'read' } as const
const write = { type: 'vclgroup', access: 'write' } as const
const closed = { additionalProperties: false }
const ignoredKeys = [
  ...readOnlyKeys,
  'deployed',
  'state',
  'stateName',
  'revision',
  'agentStates',
  'staged',
]

const fileFields = Object.keys(wholeFileSchema.properties)
const mainSchema = Type.Object(
  {
    ...referenceTo(fileFields).properties,
    version: Type.Optional(
      orNull(Type.Integer({ minimum: 1, description: 'The newest at each deploy unless given' })),
    ),
  },
  closed,
)
const changeable = {
  root: Type.Optional(orNull(Type.Boolean({ description: 'true without domains' }))),
  keepOnFailure: Type.Optional(orNull(Type.Boolean({ default: true }))),
  includes: Type.Optional(orNull(referencesTo(fileFields))),
  domains: Type.Optional(orNull(referencesTo(['fqdn', 'name', ...readOnlyKeys]))),
  deployments: Type.Optional(orNull(referencesTo(Object.keys(deploymentSchema.properties)))),
}

export function vclGroupRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findGroup(service, actor, id)
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
        const { rows, total } = await listGroups(service, actor, query)
        return answerList(rows.map(toGroupView), total)
      },
    }),
    route({
      method: 'POST',
      path: '/vclgroups',
      operationId: 'createVclGroup',
      summary: 'Makes a VCL group; nothing is deployed by that',
      errorKey,
      permission: write,
      body: Type.Object(
        { name: nameSchema, mainVCL: mainSchema, ...changeable, organization: ownerReference },
        closed,
      ),
      ignoredKeys,
      answers: { 201: groupSchema },
      handle: async ({ actor, body }) => {
        requireReferences(actor, body)
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
      find,
      body: Type.Object(
        { name: Type.Optional(nameSchema), mainVCL: Type.Optional(mainSchema), ...changeable },
        closed,
      ),
      ignoredKeys,
      answers: { 200: groupSchema },
      handle: async ({ actor, object, body }) => {
        requireReferences(actor, body)
        return { status: 200, body: toGroupView(await updateGroup(service, actor, object, body)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/vclgroups/{id}',
      operationId: 'deleteVclGroup',
      summary: 'Deletes a VCL group; 409 while it is deployed',
      errorKey,
      permission: write,
      find,
      answers: { 204: null },
      handle: async ({ object }) => {
        await deleteGroup(service, object)
        return { status: 204 }
      },
    }),
  ]
}

/** What a body's references tell the names of. */
const typesReferred: Readonly<Record<string, PermissionType>> = {
  mainVCL: 'file',
  includes: 'file',
  domains: 'domain',
  deployments: 'deployment',
}

function requireReferences(actor: Actor, body: object): void {
  for (const [key, type] of Object.entries(typesReferred))
    if (key in body) requireAccess(actor, type, 'read', errorKey)
}
