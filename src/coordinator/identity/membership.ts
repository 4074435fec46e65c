/** Which accounts are users of which organizations: the rules that every way of changing that goes through. */
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
  /** Gives no more than it holds. Null: whoever decides is not an account, as an identity provider is. */
  readonly actor: Actor | null
  /** Left out: administrator for the first of the organization, regular for later ones (docs/behaviour.md, Accounts). */
  readonly role?: OrganizationRole
  readonly now: number
  readonly errorKey: ErrorKey
}

/** Under the decision lock. Answers the user's id, and whether it was one before: then nothing changed. */
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
    'making or unmaking an administrator needs permission to write perm',
  )
}

/** Under the decision lock. Its permissions and sessions there go with it; one that is none changes nothing. */
export async function removeMember(
  queries: Queries,
  membership: Membership,
  errorKey: ErrorKey,
): Promise<void> {
  await requireOtherAdministrator(queries, membership, errorKey)
  await deleteUser(queries, membership)
}

/** Whoever amounts to administrator is changed by those only who do as well (docs/behaviour.md, Accounts). */
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

/** Under the decision lock. Throws 'conflict' for an administrator that is the only one there that may log in. */
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
