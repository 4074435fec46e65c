/** `/v1/paramset`: parameters that the caches of a group have in common (choices: 6). */
import { Type } from 'typebox'
import { parseObjectId, toObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { route, type Route } from '../../http/route.js'
import {
  changeParamSet,
  createParamSet,
  deleteParamSet,
  findParamSet,
  listParamSets,
  type ParamSetRecord,
} from './paramsets.js'
import type { StateService } from '../../service.js'
import { toConsoleTime } from '../console-time.js'
import { listRoutes } from '../list-routes.js'

const errorKey = 'paramset'
const read = { console: 'read' } as const
const write = { console: 'write' } as const

const paramsSchema = Type.Record(Type.String(), Type.String(), {
  description: 'Values by name, as on the management port; a body replaces all of them',
})
export const paramSetSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  params: paramsSchema,
  created: Type.String(),
  timestamp: Type.String(),
})
const optionalKeys = {
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  params: Type.Optional(paramsSchema),
}

export function paramSetRoutes(service: StateService): readonly Route[] {
  const ofOne = {
    ...({ path: '/v1/paramset/{id}', errorKey } as const),
    readId: (text: string) => parseObjectId('paramset', text),
    find: (_: unknown, actor: Actor, id: number) => findParamSet(service.store.queries, actor, id),
  }
  return [
    ...listRoutes({
      path: '/v1/paramset',
      operationId: 'listParamSets',
      summary: 'Parameter sets of your groups, and those that no group has',
      errorKey,
      schema: paramSetSchema,
      read: (actor) => listParamSets(service, actor),
      view: toParamSetView,
    }),
    route({
      method: 'POST',
      path: '/v1/paramset',
      operationId: 'createParamSet',
      summary: 'Makes a parameter set',
      errorKey,
      permission: write,
      ignoresUnknownKeys: true,
      body: Type.Object({ name: Type.String(), ...optionalKeys }),
      answers: { 201: paramSetSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toParamSetView(await createParamSet(service, actor, body)),
      }),
    }),
    route({
      ...ofOne,
      method: 'GET',
      operationId: 'getParamSet',
      summary: 'One parameter set',
      permission: read,
      answers: { 200: paramSetSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toParamSetView(object) }),
    }),
    route({
      ...ofOne,
      method: 'PATCH',
      operationId: 'updateParamSet',
      summary: 'Changes what is named; the caches of its groups follow',
      permission: write,
      ignoresUnknownKeys: true,
      body: Type.Object({ name: Type.Optional(Type.String()), ...optionalKeys }),
      answers: { 200: paramSetSchema },
      handle: async ({ context, actor, object, body }) => ({
        status: 200,
        body: toParamSetView(await changeParamSet(service, { context, actor }, object, body)),
      }),
    }),
    route({
      ...ofOne,
      method: 'DELETE',
      operationId: 'deleteParamSet',
      summary: 'Deletes it; 409 while a group has it',
      permission: write,
      answers: { 204: null },
      handle: async ({ actor, object }) => {
        await deleteParamSet(service, actor, object)
        return { status: 204 }
      },
    }),
  ]
}

function toParamSetView({ id, name, description, params, ...times }: ParamSetRecord): object {
  return {
    id: toObjectId('paramset', id),
    ...{ name, description, params },
    created: toConsoleTime(times.createdAt),
    timestamp: toConsoleTime(times.updatedAt),
  }
}
