/** `/jointokens`: what lets new agents in. The token itself is shown once, by POST. */
import { Type } from 'typebox'
import { answerList, route, type Route } from '../http/route.js'
import {
  createJoinToken,
  deleteJoinToken,
  findJoinToken,
  joinTokenListFields,
  listJoinTokens,
  maxUsesMost,
} from './join-tokens.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  listQuerySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referencesMost,
  referenceTo,
  requireAccess,
} from '../api/references.js'
import { joinTokenSchema, toJoinTokenView } from './join-token-view.js'
import { tagSchema } from '../tags/tag-view.js'

const errorKey = 'jointoken'
/** Who may let agents in may change them (choices: 2, Who). */
const write = { type: 'agent', access: 'write' } as const
const closed = { additionalProperties: false }
const madeSchema = Type.Object({ ...joinTokenSchema.properties, token: Type.String() }, closed)

/** The end of the year 9999, the last that ISO 8601 writes with four digits. */
const latestSeconds = 253_402_300_799

export function joinTokenRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/jointokens',
      operationId: 'listJoinTokens',
      summary: 'Join tokens, without the tokens themselves',
      errorKey,
      permission: write,
      query: listQuerySchema(joinTokenListFields),
      answers: { 200: Type.Array(joinTokenSchema) },
      handle: async ({ actor, query }) => {
        const found = await listJoinTokens(service, actor, query)
        return answerList(mapRows(found, toJoinTokenView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/jointokens',
      operationId: 'createJoinToken',
      summary: 'Makes a join token; only this answer shows it',
      errorKey,
      permission: write,
      body: Type.Object(
        {
          label: nameSchema,
          expires: Type.Optional(
            orNull(
              Type.Integer({ maximum: latestSeconds, description: 'Epoch seconds; null: never' }),
            ),
          ),
          maxUses: Type.Optional(
            orNull(Type.Integer({ minimum: 1, maximum: maxUsesMost, default: 1 })),
          ),
          tags: Type.Optional(
            orNull(
              Type.Array(Type.Union([referenceTo(Object.keys(tagSchema.properties)), nameSchema]), {
                maxItems: referencesMost,
                description: 'Assigned to the agents that enrol; a name that is new makes the tag',
              }),
            ),
          ),
          organization: ownerReference,
        },
        closed,
      ),
      ignoredKeys: [...readOnlyKeys, 'uses'],
      answers: { 201: madeSchema },
      handle: async ({ actor, body }) => {
        const { maxUses, tags, ...rest } = body
        if (tags) requireAccess(actor, 'tag', 'read', errorKey)
        const { token, record } = await createJoinToken(service, actor, {
          ...rest,
          maxUses: maxUses ?? 1,
          tags: tags ?? [],
        })
        return { status: 201, body: { ...toJoinTokenView(record), token } }
      },
    }),
    route({
      method: 'DELETE',
      path: '/jointokens/{id}',
      operationId: 'deleteJoinToken',
      summary: 'Revokes a join token; agents that it let in stay',
      errorKey,
      permission: write,
      find: (_, actor, id) => findJoinToken(service, actor, id),
      answers: { 204: null },
      handle: async ({ actor, object }) => {
        await deleteJoinToken(service, actor, object.id)
        return { status: 204 }
      },
    }),
  ]
}
