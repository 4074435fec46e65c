/** `/jointokens`: tokens that enrol new agents. The token itself is shown once, by POST. */
import { Type } from 'typebox'
import { joinToken } from '../../resources/join-token.js'
import { fieldNames, readOnlyNames } from '../../resources/resource.js'
import { tag } from '../../resources/tag.js'
import { nameSchema, orNull, maxReferences, referenceTo, requireAccess } from '../api/references.js'
import { answeredAs, deleteRoute, listRoute } from '../api/resource-routes.js'
import { createBody, withOthers } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { joinTokenReading, type JoinTokenRecord } from './join-token-queries.js'
import { createJoinToken, deleteJoinToken } from './join-tokens.js'

const answers = answeredAs(joinToken.fields, (found: JoinTokenRecord) => found)
const madeSchema = Type.Object(
  { ...answers.answer.properties, token: Type.String() },
  { additionalProperties: false },
)

const tags = Type.Optional(
  orNull(
    Type.Array(Type.Union([referenceTo(fieldNames(tag.fields)), nameSchema]), {
      maxItems: maxReferences,
      description: 'Assigned to the agents that enrol; a new name creates the tag',
    }),
  ),
)

export function joinTokenRoutes(service: StateService): readonly Route[] {
  return [
    listRoute(service, {
      ...joinTokenReading,
      ...answers,
      resource: joinToken,
      title: 'JoinToken',
      summaries: { list: 'Join tokens, without the tokens themselves' },
      // Permission to enrol agents is the permission to change them.
      listAccess: 'write',
    }),
    route({
      method: 'POST',
      path: '/jointokens',
      operationId: 'createJoinToken',
      summary: 'Creates a join token; shown only in this answer',
      errorKey: 'jointoken',
      permission: { type: 'agent', access: 'write' },
      body: withOthers(createBody(joinToken.fields), { tags }),
      ignoredKeys: [...readOnlyNames(joinToken.fields), 'updated'],
      answers: { 201: madeSchema },
      handle: async ({ actor, body }) => {
        if (body.tags) requireAccess(actor, 'tag', 'read', 'jointoken')
        const { token, record } = await createJoinToken(service, actor, body)
        return { status: 201, body: { ...answers.toAnswer(record), token } }
      },
    }),
    deleteRoute(service, {
      find: joinTokenReading.find,
      resource: joinToken,
      title: 'JoinToken',
      summaries: { delete: 'Revokes a join token; agents that it let in stay' },
      remove: deleteJoinToken,
    }),
  ]
}
