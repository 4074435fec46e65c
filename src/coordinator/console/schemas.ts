/** `/v1/schema`: the JSON schema of each entity as its calls answer it (docs/behaviour.md, Console). */
import { Type, type TObject } from 'typebox'
import { FleetError } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import { cacheSchema } from './caches/cache-views.js'
import { groupSchema } from './groups/group-views.js'
import { licenseSchema } from './license-routes.js'
import { messageSchema } from './message-routes.js'
import { paramSetSchema } from './paramsets/paramset-routes.js'
import { userSchema } from './users/user-routes.js'
import { wholeBranchSchema, wholeCommitSchema } from './vcls/vcl-views.js'

const errorKey = 'path'

/** By the words used in paths and ids. */
export const entities: Readonly<Record<string, TObject>> = {
  cache: cacheSchema,
  group: groupSchema,
  vcl: wholeBranchSchema,
  commit: wholeCommitSchema,
  paramset: paramSetSchema,
  user: userSchema,
  message: messageSchema,
  license: licenseSchema,
}

const entitySchema = Type.Object(
  { entity: Type.String(), schema: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: false },
)

export function schemaRoutes(): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/schema',
      operationId: 'listSchemas',
      summary: 'The entities with their JSON schemas',
      errorKey,
      permission: { console: 'read' },
      answers: { 200: Type.Object({ list: Type.Array(entitySchema) }) },
      handle: () => {
        const list = Object.entries(entities).map(([entity, schema]) => ({ entity, schema }))
        return Promise.resolve({ status: 200, body: { list } })
      },
    }),
    route({
      method: 'GET',
      path: '/v1/schema/{entity}',
      operationId: 'getSchema',
      summary: 'The JSON schema of one entity',
      errorKey,
      permission: { console: 'read' },
      answers: { 200: Type.Object({}, { additionalProperties: true }) },
      handle: ({ params }) => {
        const { entity = '' } = params
        const schema = Object.hasOwn(entities, entity) ? entities[entity] : undefined
        if (!schema)
          throw new FleetError(
            'not-found',
            errorKey,
            `there is no schema of ${JSON.stringify(entity.slice(0, 80))}; there are those of ${Object.keys(entities).join(', ')}`,
          )
        return Promise.resolve({ status: 200, body: schema })
      },
    }),
  ]
}
