/** `/accounts`: who may log in. */
import { Type } from 'typebox'
import { account } from '../../resources/account.js'
import { crudRoutes } from '../api/noun-routes.js'
import { createBody, updateBody, withOthers } from '../api/resource-schemas.js'
import type { Route } from '../http/route.js'
import { accountReading } from './account-queries.js'
import { createAccount, deleteAccount, findChangeableAccount, updateAccount } from './accounts.js'
import type { Identity } from './identity.js'
import { accountSchema, toAccountView } from './identity-views.js'

const password = Type.String({ writeOnly: true, description: 'at least 12 characters' })

export function accountRoutes(identity: Identity): readonly Route[] {
  return crudRoutes({
    service: identity.service,
    resource: account,
    named: 'Account',
    reading: accountReading,
    schema: accountSchema,
    view: toAccountView,
    editsUnseen: true,
    findChangeable: findChangeableAccount,
    list: 'Accounts; within an organization those of its users',
    get: 'One account',
    create: {
      summary: 'Makes an account; within an organization it is its user at once',
      body: withOthers(createBody(account.fields), { password }),
      run: (actor, body) => createAccount(identity, actor, body),
    },
    update: {
      summary: 'Changes an account; a new password ends its sessions, a lock acts within 5 s',
      body: withOthers(updateBody(account.fields), { password: Type.Optional(password) }),
      run: (service, actor, object, body) =>
        updateAccount({ ...identity, service }, actor, object, body),
    },
    remove: {
      summary: 'Deletes an account with its sessions; 409 for the last administrator',
      run: deleteAccount,
    },
  })
}
