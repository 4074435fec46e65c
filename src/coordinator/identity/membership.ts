/** The membership rules: every change of which accounts are users of an organization goes through these functions. */
import {
  isAdministrator,
  may,
  mayGrant,
  type Actor,
  type OrganizationRole,
} from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Queries } from '../store/store.js'
import {
  deleteUser,
  findRights,
  hasOtherAdministrator,
  hasUsers,
  insertUser,
  type Membership,
} from './user-queries.js'

interface Joining {
  /** Grants no more than it holds. Null: an identity provider adds the member, not an account. */
  readonly actor: Actor | null
  /** Default: administrator for the organization's first user, regular for later ones (docs/behaviour.md, Accounts). */
  readonly role?: OrganizationRole
  readonly now: number
  readonly errorKey: ErrorKey
}

/** Call under the decision lock. Returns the user's id; if the account already was a user, `wasThere` is true and nothing changed. */
export async function addMember(
  queries: Queries,
  account: { readonly id: number; readonly systemAdministrator: boolean },
  organizationId: number,
  { actor, role: wanted, now, errorKey }: Joining,
): Promise<{ readonly userId: number; readonly wasThere: boolean }> {
  if (account.systemAdministrator)
    throw new FleetError(
      'conflict',
      errorKey,
      'this account is a system administrator, who belongs to no organization',
    )
  const membership = { organizationId, accountId: account.id }
  const rights = await findRights(queries, membership)
  if (rights) return { userId: rights.userId, wasThere: true }
  const isFirst = !(await hasUsers(queries, organizationId))
  const role = wanted ?? (isFirst ? 'administrator' : 'regular')
  if (actor) requireGrantable(actor, role, errorKey)
  return { userId: await insertUser(queries, membership, role, now), wasThere: false }
}

export function requireGrantable(actor: Actor, role: OrganizationRole, errorKey: ErrorKey): void {
  if (mayGrant(actor, { role, grants: {} })) return
  throw new FleetError(
    'forbidden',
    errorKey,
    'making or unmaking an administrator needs write permission on perm',
  )
}

/** Call under the decision lock. Also deletes its permissions and sessions there. Does nothing if the account is not a user. */
export async function removeMember(
  queries: Queries,
  membership: Membership,
  errorKey: ErrorKey,
): Promise<void> {
  await requireOtherAdministrator(queries, membership, errorKey)
  await deleteUser(queries, membership)
}

/** Only callers with administrator rights may change an account that has them (docs/behaviour.md, Accounts). */
export async function requireAuthority(
  queries: Queries,
  actor: Actor,
  membership: Membership,
  errorKey: ErrorKey,
): Promise<void> {
  const rights = await findRights(queries, membership)
  if (!rights || !isAdministrator(rights) || may(actor, 'perm', 'write')) return
  throw new FleetError(
    'forbidden',
    errorKey,
    'this account is an administrator: changing it needs write permission on perm',
  )
}

/** Call under the decision lock. Throws 'conflict' for the organization's only administrator that may log in. */
export async function requireOtherAdministrator(
  queries: Queries,
  membership: Membership,
  errorKey: ErrorKey,
): Promise<void> {
  const rights = await findRights(queries, membership)
  if (rights?.role !== 'administrator') return
  if (await hasOtherAdministrator(queries, membership)) return
  throw new FleetError(
    'conflict',
    errorKey,
    'this is the last administrator of its organization; make another one first',
  )
}
