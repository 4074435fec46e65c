/** `/v1/user`: who may use the console, as what and for which groups; the accounts are those of the controller (choices: 6). */
import { Type } from 'typebox'
import { consoleRoles } from '../../../resources/console-role.js'
import { parseObjectId, toObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { route, type Route } from '../../http/route.js'
import { deleteConsoleUser, updateConsoleUser } from './user-changing.js'
import { createConsoleUser } from './user-making.js'
import { findConsoleUser, listConsoleUsers, type ConsoleUser } from './users.js'
import type { Identity } from '../../identity/identity.js'
import { toConsoleTime } from '../console-time.js'
import { listRoutes } from '../list-routes.js'

const errorKey = 'user'
const read = { console: 'read' } as const
const administer = { console: 'administer' } as const
/** Chosen by us. */
const groupsMost = 1000

export const userSchema = Type.Object({
  id: Type.String(),
  username: Type.String(),
  email: Type.String(),
  role: Type.Enum(consoleRoles),
  groups: Type.Array(Type.String(), { description: 'ids; empty of an Admin, who sees all' }),
  created: Type.String(),
  timestamp: Type.String(),
})

const details = {
  email: Type.Optional(Type.String()),
  groups: Type.Optional(Type.Array(Type.String(), { maxItems: groupsMost })),
}

const newUserSchema = Type.Object({
  username: Type.String(),
  password: Type.Optional(
    Type.String({ description: 'left out: for an account that is there, which gets the role' }),
  ),
  role: Type.Enum(consoleRoles),
  ...details,
})

const changeSchema = Type.Object({
  password: Type.Optional(Type.String()),
  role: Type.Optional(Type.Enum(consoleRoles)),
  ...details,
})

export function userRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  const readId = (text: string) => parseObjectId('user', text)
  const find = (_: unknown, actor: Actor, id: number) => findConsoleUser(service, actor, id)
  return [
    ...listRoutes({
      path: '/v1/user',
      operationId: 'listConsoleUsers',
      summary: 'The users of your organization; whoever is no Admin sees itself',
      errorKey,
      schema: userSchema,
      read: (actor) => listConsoleUsers(service, actor),
      view: toUserView,
    }),
    route({
      method: 'POST',
      path: '/v1/user',
      operationId: 'createConsoleUser',
      summary:
        'Makes an account with a role; without a password it gives a role to one that is there',
      errorKey,
      permission: administer,
      body: newUserSchema,
      ignoresUnknownKeys: true,
      answers: { 201: userSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toUserView(await createConsoleUser(identity, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/user/{id}',
      operationId: 'getConsoleUser',
      summary: 'One user',
      errorKey,
      permission: read,
      readId,
      find,
      answers: { 200: userSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toUserView(object) }),
    }),
    route({
      method: 'PATCH',
      path: '/v1/user/{id}',
      operationId: 'updateConsoleUser',
      summary:
        'Merges the values given: the own password and email by everybody, all else by an Admin',
      errorKey,
      permission: read,
      readId,
      find,
      body: changeSchema,
      ignoresUnknownKeys: true,
      answers: { 200: userSchema },
      handle: async ({ actor, object, body }) => ({
        status: 200,
        body: toUserView(await updateConsoleUser(identity, actor, object, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/user/{id}',
      operationId: 'deleteConsoleUser',
      summary: 'Takes the role away, at once; the account goes too where it is nowhere else',
      errorKey,
      permission: administer,
      readId,
      find,
      answers: { 204: null },
      handle: async ({ actor, object }) => {
        await deleteConsoleUser(service, actor, object)
        return { status: 204 }
      },
    }),
  ]
}

function toUserView(user: ConsoleUser): object {
  return {
    id: toObjectId('user', user.accountId),
    username: user.name,
    email: user.email,
    role: user.role,
    groups: user.groupIds.map((id) => toObjectId('group', id)),
    created: toConsoleTime(user.createdAt),
    timestamp: toConsoleTime(user.updatedAt),
  }
}
