/** `/accounts`: the accounts that may log in. */
import { Type } from 'typebox'
import { account } from '../../resources/account.js'
import { answeredAs, resourceRoutes } from '../api/resource-routes.js'
import { createBody, updateBody, withOthers } from '../api/resource-schemas.js'
import type { Route } from '../http/route.js'
import { accountReading, type AccountRecord } from './account-queries.js'
import { createAccount, deleteAccount, requireSole, updateAccount } from './accounts.js'
import type { Identity } from './identity.js'

const password = Type.String({ writeOnly: true, description: 'at least 12 characters' })

export function accountRoutes(identity: Identity): readonly Route[] {
  return resourceRoutes(identity.service, {
    ...accountReading,
    ...answeredAs(account.fields, (found: AccountRecord) => found),
    resource: account,
    title: 'Account',
    summaries: {
      list: 'Accounts; within an organization those of its users',
      create: 'Creates an account; within an organization it is its user at once',
      get: 'One account',
      update: 'Changes an account; a new password ends its sessions, a lock acts within 5 s',
      delete: 'Deletes an account with its sessions; 409 for the last administrator',
    },
    bodies: {
      create: withOthers(createBody(account.fields), { password }),
      update: withOthers(updateBody(account.fields), { password: Type.Optional(password) }),
    },
    // A password change is visible in no other key.
    edited: { keys: ['updated'] },
    // Only POST reads the owner; PUT ignores it, so that clients may send the created object back.
    ignored: ['organization'],
    skipsAccessCheck: true,
    requireChangeable: (actor, { id }, { store }) => requireSole(store.queries, actor, id),
    create: (service, actor, body) => createAccount({ ...identity, service }, actor, body),
    update: (service, actor, found, body) =>
      updateAccount({ ...identity, service }, actor, found, body),
    remove: deleteAccount,
  })
}
