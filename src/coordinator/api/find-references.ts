/**
 * What the resources' use cases share: whose a new object is, whether a caller may change an object, whether
 * what a body refers to is there, and the two conflicts: a name that is taken, a delete of what is in use.
 */
import type { Actor } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { organizationExists, type NamedReference } from '../store/owner.js'
import type { Queries } from '../store/store.js'
import { isForeignKeyViolation, isUniqueViolation } from '../store/violation.js'

/** As a body writes it: null for the system administrator's own. */
export type OwnerReference = { readonly id: number } | null | undefined

/** The organization of a new object; null: the system administrator's own (docs/behaviour.md, Permissions). */
export async function chooseOwner(
  queries: Queries,
  actor: Actor,
  organization: OwnerReference,
  errorKey: ErrorKey,
): Promise<number | null> {
  if (!organization) return actor.organizationId
  if (actor.organizationId === organization.id) return organization.id
  if (actor.organizationId !== null)
    throw new FleetError(
      'forbidden',
      errorKey,
      `organization ${organization.id} is not yours; leave the key out`,
    )
  if (!(await organizationExists(queries, organization.id)))
    throw notThere('organization', [organization.id], errorKey)
  return organization.id
}

/** An organization reads what is shared with it; only the system administrator changes it (docs/behaviour.md, Shared agents). */
export function requireOwner(
  actor: Actor,
  object: { readonly organization: NamedReference | null },
  errorKey: ErrorKey,
): void {
  if (actor.organizationId !== null && object.organization?.id !== actor.organizationId)
    throw new FleetError(
      'forbidden',
      errorKey,
      'this is shared by all organizations; only the system administrator can change it',
    )
}

/** The references of a body's list, each once, all of them usable by the object's owner. Throws 'invalid' naming the key. */
export async function requireAll(
  wanted: readonly { readonly id: number }[],
  key: string,
  errorKey: ErrorKey,
  readUsable: (ids: readonly number[]) => Promise<readonly number[]>,
): Promise<number[]> {
  const ids = [...new Set(wanted.map(({ id }) => id))]
  if (ids.length === 0) return []
  const usable = new Set(await readUsable(ids))
  const missing = ids.filter((id) => !usable.has(id))
  if (missing.length > 0) throw notThere(key, missing, errorKey)
  return ids
}

export function notThere(key: string, ids: readonly number[], errorKey: ErrorKey): FleetError {
  const shown = ids.slice(0, 10).join(', ')
  return new FleetError(
    'invalid',
    errorKey,
    `${key}: ${shown} ${ids.length === 1 ? 'was' : 'were'} not found`,
  )
}

/** Runs a write; a name that is taken is a conflict that names it. */
export async function withUniqueName<T>(
  name: string,
  errorKey: ErrorKey,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new FleetError(
      'conflict',
      errorKey,
      `the name ${JSON.stringify(name)} is taken; names are unique ${whereUnique(errorKey)}`,
    )
  }
}

function whereUnique(errorKey: ErrorKey): string {
  return errorKey === 'account' || errorKey === 'organization'
    ? 'in the whole store'
    : 'in an organization'
}

/** How many users of an object an error text names. */
export const usersNamed = 5

/**
 * Deletes what nothing refers to. What was referred to between the check and the delete is refused by the foreign key.
 * Throws 'conflict' naming the users.
 */
export async function deleteUnused(
  kind: string,
  errorKey: ErrorKey,
  readUsers: () => Promise<readonly string[]>,
  remove: () => Promise<void>,
): Promise<void> {
  const users = await readUsers()
  if (users.length > 0) throw inUse(kind, users, errorKey)
  try {
    await remove()
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw inUse(kind, await readUsers(), errorKey)
  }
}

function inUse(kind: string, users: readonly string[], errorKey: ErrorKey): FleetError {
  const names = users.map((name) => JSON.stringify(name)).join(', ')
  return new FleetError(
    'conflict',
    errorKey,
    `it is in use by ${kind} ${names}${users.length === usersNamed ? ' and perhaps more' : ''}; take it out there first`,
  )
}
