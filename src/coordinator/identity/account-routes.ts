/** `/accounts`: who may log in. */
import { Type } from 'typebox'
import { answerList, route, type Route } from '../http/route.js'
import {
  accountListFields,
  createAccount,
  deleteAccount,
  findAccount,
  findChangeableAccount,
  listAccounts,
  updateAccount,
} from './accounts.js'
import type { Identity } from './identity.js'
import { mapRows } from '../store/long-list.js'
import { accountSchema, toAccountView, wholeOrganizationSchema } from './identity-views.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referencesTo,
} from '../api/references.js'

const errorKey = 'account'
const read = { type: 'account', access: 'read' } as const
const write = { type: 'account', access: 'write' } as const
const closed = { additionalProperties: false }
const ignoredKeys = [...readOnlyKeys, 'systemAdministrator']

const passwordSchema = Type.String({ writeOnly: true, description: 'at least 12 characters' })
const changeable = {
  email: Type.Optional(orNull(Type.String({ description: 'empty: none' }))),
  locked: Type.Optional(orNull(Type.Boolean({ default: false }))),
  organizations: Type.Optional(
    orNull(referencesTo(Object.keys(wholeOrganizationSchema.properties))),
  ),
}

export function accountRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  const edit = editing(service, {
    keys: ['name', 'email', 'locked', 'organizations', 'updated'],
    find: findAccount,
    view: toAccountView,
  })
  return [
    route({
      method: 'GET',
      path: '/accounts',
      operationId: 'listAccounts',
      summary: 'Accounts; within an organization those of its users',
      errorKey,
      permission: read,
      query: listQuerySchema(accountListFields),
      answers: { 200: Type.Array(accountSchema) },
      handle: async ({ actor, query }) => {
        const found = await listAccounts(service, actor, query)
        return answerList(mapRows(found, toAccountView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/accounts',
      operationId: 'createAccount',
      summary: 'Makes an account; within an organization it is its user at once',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        {
          name: nameSchema,
          password: passwordSchema,
          ...changeable,
          organization: ownerReference,
        },
        closed,
      ),
      ignoredKeys,
      answers: { 201: accountSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toAccountView(await createAccount(identity, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/accounts/{id}',
      operationId: 'getAccount',
      summary: 'One account',
      errorKey,
      permission: read,
      edit,
      find: (_, actor, id) => findAccount(service, actor, id),
      answers: { 200: accountSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toAccountView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/accounts/{id}',
      operationId: 'updateAccount',
      summary: 'Changes an account; a new password ends its sessions, a lock acts within 5 s',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableAccount(service, actor, id),
      body: Type.Object(
        {
          name: Type.Optional(nameSchema),
          password: Type.Optional(passwordSchema),
          ...changeable,
        },
        closed,
      ),
      ignoredKeys,
      answers: { 200: accountSchema },
      handle: async ({ actor, object, body, guarded }) => ({
        status: 200,
        body: toAccountView(
          await updateAccount({ ...identity, service: guarded }, actor, object, body),
        ),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/accounts/{id}',
      operationId: 'deleteAccount',
      summary: 'Deletes an account with its sessions; 409 for the last administrator',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableAccount(service, actor, id),
      answers: { 204: null },
      handle: async ({ actor, object, guarded }) => {
        await deleteAccount(guarded, actor, object)
        return { status: 204 }
      },
    }),
  ]
}
