/** `/users`: the accounts of an organization with their roles there. */
import { Type } from 'typebox'
import { organizationRoles } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import { changeRole, createUser, deleteUser, findUser, listUsers, userListFields } from './users.js'
import { accountSchema, toUserView, userSchema } from './identity-views.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referenceTo,
  requireSame,
} from '../api/references.js'

const errorKey = 'user'
/** choices: 2, Who. */
const read = { type: 'account', access: 'read' } as const
const write = { type: 'account', access: 'write' } as const
const closed = { additionalProperties: false }
const accountReference = referenceTo(Object.keys(accountSchema.properties))
const roleSchema = Type.Optional(orNull(Type.Enum([...organizationRoles])))

export function userRoutes(service: StateService): readonly Route[] {
  const edit = editing(service, { keys: ['role'], find: findUser, view: toUserView })
  return [
    route({
      method: 'GET',
      path: '/users',
      operationId: 'listUsers',
      summary: 'Users of your organization; the system administrator sees those of all',
      errorKey,
      permission: read,
      query: listQuerySchema(userListFields),
      answers: { 200: Type.Array(userSchema) },
      handle: async ({ actor, query }) => {
        const found = await listUsers(service, actor, query)
        return answerList(mapRows(found, toUserView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/users',
      operationId: 'createUser',
      summary: 'Makes an account a user, with a role; 409 when it is one',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        { account: accountReference, role: roleSchema, organization: ownerReference },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 201: userSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toUserView(await createUser(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/users/{id}',
      operationId: 'getUser',
      summary: 'One user',
      errorKey,
      permission: read,
      edit,
      find: (_, actor, id) => findUser(service, actor, id),
      answers: { 200: userSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toUserView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/users/{id}',
      operationId: 'updateUser',
      summary: 'Changes the role; 409 for the last administrator',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findUser(service, actor, id),
      body: Type.Object({ account: Type.Optional(accountReference), role: roleSchema }, closed),
      ignoredKeys: readOnlyKeys,
      answers: { 200: userSchema },
      handle: async ({ actor, object, body, guarded }) => {
        requireSame('account', body.account?.id, object.account.id, errorKey)
        return {
          status: 200,
          body: toUserView(await changeRole(guarded, actor, object, body.role)),
        }
      },
    }),
    route({
      method: 'DELETE',
      path: '/users/{id}',
      operationId: 'deleteUser',
      summary: 'Takes the account out of the organization; 409 for the last administrator',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findUser(service, actor, id),
      answers: { 204: null },
      handle: async ({ actor, object, guarded }) => {
        await deleteUser(guarded, actor, object)
        return { status: 204 }
      },
    }),
  ]
}
