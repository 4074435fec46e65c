/** Users: the accounts of an organization with their roles there. POST assigns, DELETE unassigns (choices: 2, Who). */
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor, OrganizationRole } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { findAccount } from './account-queries.js'
import {
  findUser as findUserRow,
  fromRow,
  selectUsers,
  updateRole,
  userColumns,
  type UserRecord,
} from './user-queries.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { chooseOwner, notThere, type OwnerReference } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import {
  addMember,
  removeMember,
  requireAuthority,
  requireGrantable,
  requireOtherAdministrator,
} from './membership.js'
import { tellCredentialsChanged } from './sessions.js'

export type { UserRecord } from './user-queries.js'

export const userListFields = Object.keys(userColumns)

export async function listUsers(
  { store }: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<UserRecord>> {
  const list = parseListQuery(query, userColumns, 'user')
  const users = selectUsers(store.queries, scopeOf(actor))
  return readLongList(users, list, userColumns, (rows) => rows.map(fromRow))
}

export async function findUser(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<UserRecord | undefined> {
  return findUserRow(store.queries, scopeOf(actor), id)
}

export interface NewUser {
  readonly account: { readonly id: number }
  readonly role?: OrganizationRole | null
  readonly organization?: OwnerReference
}

/** Throws 'conflict' for an account that is a user there already, 'forbidden' for a role that the caller may not give. */
export async function createUser(
  service: StateService,
  actor: Actor,
  wanted: NewUser,
): Promise<UserRecord> {
  const { store, now } = service
  const organizationId = await chooseOwner(store.queries, actor, wanted.organization, 'user')
  if (organizationId === null) throw organizationMissing('user')
  const id = await store.decide(async (queries) => {
    const account = await findAccount(queries, scopeOf(actor), wanted.account.id)
    if (!account) throw notThere('account', [wanted.account.id], 'user')
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
  tellCredentialsChanged(service)
  return readAgain(service, actor, id)
}

/** Null: regular. Throws 'conflict' for the last administrator, 'forbidden' for a role that the caller may not give or take. */
export async function changeRole(
  service: StateService,
  actor: Actor,
  user: UserRecord,
  wanted: OrganizationRole | null | undefined,
): Promise<UserRecord> {
  const role = wanted === undefined ? user.role : (wanted ?? 'regular')
  await service.store.decide(async (queries) => {
    const now = await findUserRow(queries, scopeOf(actor), user.id)
    if (!now) throw notFound(user.id)
    if (now.role === role) return
    requireGrantable(actor, 'administrator', 'user') // given or taken
    if (role === 'regular') await requireOtherAdministrator(queries, membershipOf(now), 'user')
    await updateRole(queries, user.id, role, service.now())
  })
  tellCredentialsChanged(service)
  return readAgain(service, actor, user.id)
}

/** Takes the account out of the organization. Throws 'conflict' for the last administrator. */
export async function deleteUser(
  service: StateService,
  actor: Actor,
  user: UserRecord,
): Promise<void> {
  await service.store.decide(async (queries) => {
    await requireAuthority(queries, actor, membershipOf(user), 'user')
    await removeMember(queries, membershipOf(user), 'user')
  })
  tellCredentialsChanged(service)
}

export function organizationMissing(errorKey: 'user' | 'permission'): FleetError {
  return new FleetError(
    'invalid',
    errorKey,
    'organization is missing; the system administrator says which by {id}',
  )
}

function membershipOf({ organization, account }: UserRecord) {
  return { organizationId: organization.id, accountId: account.id }
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<UserRecord> {
  const user = await findUser(service, actor, id)
  if (!user) throw notFound(id)
  return user
}

function notFound(id: number): FleetError {
  return new FleetError('not-found', 'user', `${id} was not found`)
}
