/**
 * `/v1/user`: who may use the console, as what and for which groups; the accounts are those of the controller
 * (docs/behaviour.md, Console users).
 */
import { Type } from 'typebox'
import { consoleRoles } from '../../../resources/console-role.js'
import { toObjectId } from '../../../resources/object-id.js'
import type { Route } from '../../http/route.js'
import { deleteConsoleUser, updateConsoleUser } from './user-changing.js'
import { createConsoleUser } from './user-making.js'
import { findConsoleUser, listConsoleUsers, type ConsoleUser } from './users.js'
import type { Identity } from '../../identity/identity.js'
import { toConsoleTime } from '../console-time.js'
import { nounRoutes, type ConsoleNoun } from '../noun-routes.js'

const maxGroups = 1000

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
  groups: Type.Optional(Type.Array(Type.String(), { maxItems: maxGroups })),
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
  const users: ConsoleNoun<ConsoleUser> = {
    kind: 'user',
    names: { one: 'ConsoleUser', many: 'ConsoleUsers' },
    schema: userSchema,
    view: toUserView,
    find: (actor, id) => findConsoleUser(service, actor, id),
  }
  return nounRoutes(users, {
    list: {
      summary: 'The users of your organization; other users than Admins see only themselves',
      read: (actor) => listConsoleUsers(service, actor),
    },
    create: {
      summary:
        'Creates an account with a role; without a password it gives a role to an existing one',
      access: 'administer',
      body: newUserSchema,
      run: ({ actor, body }) => createConsoleUser(identity, actor, body),
    },
    get: { summary: 'One user' },
    update: {
      summary:
        'Merges the values given: the own password and email by everybody, all else by an Admin',
      access: 'read',
      body: changeSchema,
      run: ({ actor, object, body }) => updateConsoleUser(identity, actor, object, body),
    },
    delete: {
      summary: 'Revokes the role at once; the account is deleted too if it has no other role',
      access: 'administer',
      run: ({ actor, object }) => deleteConsoleUser(service, actor, object),
    },
  })
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
