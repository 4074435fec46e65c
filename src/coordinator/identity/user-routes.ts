/** `/users`: the accounts of an organization with their roles there. */
import { user } from '../../resources/user.js'
import { crudRoutes } from '../api/noun-routes.js'
import { createBody, updateBody } from '../api/resource-schemas.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { toUserView, userSchema } from './identity-views.js'
import { userReading } from './user-queries.js'
import { changeRole, createUser, deleteUser } from './users.js'

export function userRoutes(service: StateService): readonly Route[] {
  return crudRoutes({
    service,
    resource: user,
    named: 'User',
    reading: userReading,
    schema: userSchema,
    view: toUserView,
    list: 'Users of your organization; the system administrator sees those of all',
    get: 'One user',
    create: {
      summary: 'Makes an account a user, with a role; 409 when it is one',
      body: createBody(user.fields),
      run: (actor, body) => createUser(service, actor, body),
    },
    update: {
      summary: 'Changes the role; 409 for the last administrator',
      body: updateBody(user.fields),
      run: (guarded, actor, object, { role }) => changeRole(guarded, actor, object, role),
    },
    remove: {
      summary: 'Takes the account out of the organization; 409 for the last administrator',
      run: deleteUser,
    },
  })
}
