/** `/deployments`: which agents groups are placed on, chosen by tags, and how many. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import {
  createDeployment,
  deleteDeployment,
  deploymentListFields,
  findDeployment,
  listDeployments,
  updateDeployment,
  viewDeployment,
} from './deployments.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import { editing } from '../api/editing.js'
import {
  forceQuery,
  listQuerySchema,
  managedBySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referencesTo,
  requireAccess,
} from '../api/references.js'
import { deploymentSchema, toDeploymentFields, toDeploymentView } from './deployment-view.js'
import { tagSchema } from '../tags/tag-view.js'

const errorKey = 'deployment'
const read = { type: 'deployment', access: 'read' } as const
const write = { type: 'deployment', access: 'write' } as const
const closed = { additionalProperties: false }
const ignoredKeys = [...readOnlyKeys, 'state', 'stateName', 'agents']

/** Chosen by us: far beyond any fleet. */
const agentsMost = 1_000_000
const countSchema = Type.Integer({ minimum: 1, maximum: agentsMost, default: 1 })
const tagsSchema = referencesTo(Object.keys(tagSchema.properties), { minItems: 1 })
const changeable = {
  managedBy: Type.Optional(managedBySchema),
  min: Type.Optional(orNull(countSchema)),
  max: Type.Optional(orNull(countSchema)),
}

export function deploymentRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findDeployment(service, actor, id)
  const edit = editing(service, {
    keys: ['name', 'min', 'max', 'tags', 'managedBy'],
    find: findDeployment,
    view: toDeploymentFields,
  })
  return [
    route({
      method: 'GET',
      path: '/deployments',
      operationId: 'listDeployments',
      summary: 'Deployments with their state and agents',
      errorKey,
      permission: read,
      query: listQuerySchema(deploymentListFields),
      answers: { 200: Type.Array(deploymentSchema) },
      handle: async ({ actor, query }) => {
        const found = await listDeployments(service, actor, query)
        return answerList(mapRows(found, toDeploymentView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/deployments',
      operationId: 'createDeployment',
      summary: 'Makes a deployment: agents with all of these tags, at least min, at most max',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        { name: nameSchema, tags: tagsSchema, ...changeable, organization: ownerReference },
        closed,
      ),
      ignoredKeys,
      answers: { 201: deploymentSchema },
      handle: async ({ actor, body }) => {
        requireAccess(actor, 'tag', 'read', errorKey)
        const view = await createDeployment(service, actor, body)
        return { status: 201, body: toDeploymentView(view) }
      },
    }),
    route({
      method: 'GET',
      path: '/deployments/{id}',
      operationId: 'getDeployment',
      summary: 'One deployment',
      errorKey,
      permission: read,
      edit,
      find,
      answers: { 200: deploymentSchema },
      handle: async ({ object }) => ({
        status: 200,
        body: toDeploymentView(await viewDeployment(service, object)),
      }),
    }),
    route({
      method: 'PUT',
      path: '/deployments/{id}',
      operationId: 'updateDeployment',
      summary: 'Changes a deployment; placement follows at once',
      errorKey,
      permission: write,
      edit,
      find,
      query: forceQuery('also when a deployed group falls below its min by this'),
      body: Type.Object(
        { name: Type.Optional(nameSchema), tags: Type.Optional(tagsSchema), ...changeable },
        closed,
      ),
      ignoredKeys,
      answers: { 200: deploymentSchema },
      handle: async ({ actor, object, body, query, guarded }) => {
        if (body.tags) requireAccess(actor, 'tag', 'read', errorKey)
        const change = { ...body, force: query.force ?? false }
        const view = await updateDeployment(guarded, actor, object, change)
        return { status: 200, body: toDeploymentView(view) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/deployments/{id}',
      operationId: 'deleteDeployment',
      summary: 'Deletes a deployment; 409 while a VCL group has it',
      errorKey,
      permission: write,
      edit,
      find,
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteDeployment(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}
