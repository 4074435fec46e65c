/** `/users`: the accounts of an organization with their roles in it. */
import { user } from '../../resources/user.js'
import { answeredAs, resourceRoutes } from '../api/resource-routes.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { userReading, type UserRecord } from './user-queries.js'
import { changeRole, createUser, deleteUser } from './users.js'

export function userRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    ...userReading,
    ...answeredAs<typeof user.fields, UserRecord>(user.fields, () => ({})),
    resource: user,
    title: 'User',
    summaries: {
      list: 'Users of your organization; the system administrator sees those of all',
      create: 'Adds an account as a user, with a role; 409 when it is one',
      get: 'One user',
      update: 'Changes the role; 409 for the last administrator',
      delete: 'Removes the account from the organization; 409 for the last administrator',
    },
    skipsAccessCheck: true,
    create: createUser,
    update: changeRole,
    remove: deleteUser,
  })
}
