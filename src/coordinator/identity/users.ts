/** Users: the accounts of an organization with their roles in it. POST adds an account, DELETE removes it (docs/behaviour.md, Accounts). */
import type { Actor } from '../../resources/permission.js'
import type { user } from '../../resources/user.js'
import { FleetError } from '../../errors.js'
import { accountReading } from './account-queries.js'
import { updateRole, userReading, type UserRecord } from './user-queries.js'
import { chooseOwner, referencesNotFound } from '../api/find-references.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import {
  addMember,
  removeMember,
  requireAuthority,
  requireGrantable,
  requireOtherAdministrator,
} from './membership.js'
import { notifyCredentialsChanged } from './sessions.js'

/** Throws 'conflict' if the account is already a user there, 'forbidden' if the caller may not grant the role. */
export async function createUser(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof user.fields>,
): Promise<UserRecord> {
  const { store, now } = service
  const organizationId = await chooseOwner(store.queries, actor, wanted.organization, 'user')
  if (organizationId === null) throw organizationMissing('user')
  const id = await store.decide(async (queries) => {
    const account = await accountReading.find(queries, scopeOf(actor), wanted.account.id)
    if (!account) throw referencesNotFound('account', [wanted.account.id], 'user')
    const { userId, wasThere } = await addMember(queries, account, organizationId, {
      actor,
      ...(wanted.role && { role: wanted.role }),
      now: now(),
      errorKey: 'user',
    })
    if (wasThere)
      throw new FleetError(
        'conflict',
        'user',
        `account ${JSON.stringify(account.name)} is a user of the organization already`,
      )
    return userId
  })
  notifyCredentialsChanged(service)
  return userReading.readAgain(service, actor, id)
}

/** A null role means regular. Throws 'conflict' for the last administrator, 'forbidden' if the caller may not grant or revoke the role. */
export async function changeRole(
  service: StateService,
  actor: Actor,
  before: UserRecord,
  { role: wanted }: UpdateBody<typeof user.fields>,
): Promise<UserRecord> {
  const role = wanted === undefined ? before.role : (wanted ?? 'regular')
  await service.store.decide(async (queries) => {
    const now = await userReading.find(queries, scopeOf(actor), before.id)
    if (!now) throw new FleetError('not-found', 'user', `${before.id} was not found`)
    if (now.role === role) return
    requireGrantable(actor, 'administrator', 'user') // granted or revoked
    if (role === 'regular') await requireOtherAdministrator(queries, membershipOf(now), 'user')
    await updateRole(queries, before.id, role, service.now())
  })
  notifyCredentialsChanged(service)
  return userReading.readAgain(service, actor, before.id)
}

/** Removes the account from the organization. Throws 'conflict' for the last administrator. */
export async function deleteUser(
  service: StateService,
  left: UserRecord,
  actor: Actor,
): Promise<void> {
  await service.store.decide(async (queries) => {
    await requireAuthority(queries, actor, membershipOf(left), 'user')
    await removeMember(queries, membershipOf(left), 'user')
  })
  notifyCredentialsChanged(service)
}

export function organizationMissing(errorKey: 'user' | 'permission'): FleetError {
  return new FleetError(
    'invalid',
    errorKey,
    'organization is missing; the system administrator has to give it as {id}',
  )
}

function membershipOf({ organization, account }: UserRecord) {
  return { organizationId: organization.id, accountId: account.id }
}
