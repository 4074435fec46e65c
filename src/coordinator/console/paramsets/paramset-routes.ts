/** `/v1/paramset`: parameters that the caches of a group have in common (docs/behaviour.md, Console parameters). */
import { Type } from 'typebox'
import { toObjectId } from '../../../resources/object-id.js'
import type { Route } from '../../http/route.js'
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
import { nounRoutes, type ConsoleNoun } from '../noun-routes.js'

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
  const sets: ConsoleNoun<ParamSetRecord> = {
    kind: 'paramset',
    names: { one: 'ParamSet', many: 'ParamSets' },
    schema: paramSetSchema,
    view: toParamSetView,
    find: (actor, id) => findParamSet(service.store.queries, actor, id),
  }
  return nounRoutes(sets, {
    list: {
      summary: 'Parameter sets of your groups, and those that no group has',
      read: (actor) => listParamSets(service, actor),
    },
    create: {
      summary: 'Creates a parameter set',
      access: 'write',
      body: Type.Object({ name: Type.String(), ...optionalKeys }),
      run: ({ actor, body }) => createParamSet(service, actor, body),
    },
    get: { summary: 'One parameter set' },
    update: {
      summary: 'Changes what is named; the caches of its groups follow',
      access: 'write',
      body: Type.Object({ name: Type.Optional(Type.String()), ...optionalKeys }),
      run: ({ context, actor, object, body }) =>
        changeParamSet(service, { context, actor }, object, body),
    },
    delete: {
      summary: 'Deletes it; 409 while a group has it',
      access: 'write',
      run: ({ actor, object }) => deleteParamSet(service, actor, object),
    },
  })
}

function toParamSetView({ id, name, description, params, ...times }: ParamSetRecord): object {
  return {
    id: toObjectId('paramset', id),
    name,
    description,
    params,
    created: toConsoleTime(times.createdAt),
    timestamp: toConsoleTime(times.updatedAt),
  }
}
