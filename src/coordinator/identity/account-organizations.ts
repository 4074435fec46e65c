/** The organizations of an account in a request body. Only the system administrator chooses them freely. */
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { AccountRecord } from './account-queries.js'
import { readExistingOrganizationIds } from '../store/owner.js'
import type { Queries } from '../store/store.js'
import { readOrganizationIdsOf } from './user-queries.js'
import { chooseOwner, requireAll, type OwnerReference } from '../api/find-references.js'
import { addMember, removeMember } from './membership.js'

export interface AccountOrganizations {
  /** The owner of a new account. The account becomes a user of this organization at once. */
  readonly organization?: OwnerReference
  readonly organizations?: readonly { readonly id: number }[] | null | undefined
}

/** The owner and memberships of a new account. Throws 'forbidden' for an organization that is not the caller's. */
export async function chooseOrganizations(
  queries: Queries,
  actor: Actor,
  { organization, organizations }: AccountOrganizations,
): Promise<{ readonly owner: number | null; readonly memberOf: readonly number[] }> {
  const owner = await chooseOwner(queries, actor, organization, 'account')
  const listed = await readListed(queries, actor, organizations ?? [])
  return { owner, memberOf: [...new Set([...(owner === null ? [] : [owner]), ...listed])] }
}

/** Call under the decision lock. An omitted list changes nothing. Only the system administrator may send a different list. */
export async function replaceOrganizations(
  queries: Queries,
  actor: Actor,
  account: AccountRecord,
  change: {
    readonly wanted: AccountOrganizations['organizations'] | undefined
    readonly now: () => number
  },
): Promise<void> {
  if (change.wanted === undefined) return
  const wanted = new Set(await readListed(queries, actor, change.wanted ?? []))
  const { organizationId: own } = actor
  const all = await readOrganizationIdsOf(queries, account.id)
  const before = new Set(all.filter((id) => own === null || id === own))
  const added = [...wanted].filter((id) => !before.has(id))
  const removed = [...before].filter((id) => !wanted.has(id))
  if (added.length + removed.length > 0 && own !== null) throw notYours()
  for (const organizationId of added)
    await addMember(queries, account, organizationId, {
      actor,
      now: change.now(),
      errorKey: 'account',
    })
  for (const organizationId of removed)
    await removeMember(queries, { organizationId, accountId: account.id }, 'account')
}

async function readListed(
  queries: Queries,
  { organizationId }: Actor,
  wanted: readonly { readonly id: number }[],
): Promise<number[]> {
  if (organizationId === null)
    return requireAll(wanted, 'organizations', 'account', (ids) =>
      readExistingOrganizationIds(queries, ids),
    )
  if (wanted.some(({ id }) => id !== organizationId)) throw notYours()
  return wanted.length === 0 ? [] : [organizationId]
}

function notYours(): FleetError {
  return new FleetError(
    'forbidden',
    'account',
    'only the system administrator can assign organizations; use /users for the users of your own',
  )
}
