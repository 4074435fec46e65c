/**
 * Shared by the resources' use cases: the owner of a new object, whether a caller may change an object, whether the objects
 * that a body refers to exist, and the two conflicts: a name that is taken, a delete of an object that is in use.
 */
import type { Actor } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { organizationExists, type NamedReference } from '../store/owner.js'
import type { Queries } from '../store/store.js'
import { isForeignKeyViolation, isUniqueViolation } from '../store/violation.js'

/** The owner in a request body; null: the system administrator's own. */
export type OwnerReference = { readonly id: number } | null | undefined

/** Returns the organization of a new object; null: the system administrator's own (docs/behaviour.md, Permissions). */
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
    throw referencesNotFound('organization', [organization.id], errorKey)
  return organization.id
}

/** An organization may read shared objects; only the system administrator may change them (docs/behaviour.md, Shared agents). */
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

/** Returns the ids of a body's list without duplicates. Throws 'invalid' that names the key if the owner cannot use one of them. */
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
  if (missing.length > 0) throw referencesNotFound(key, missing, errorKey)
  return ids
}

export function referencesNotFound(
  key: string,
  ids: readonly number[],
  errorKey: ErrorKey,
): FleetError {
  const shown = ids.slice(0, 10).join(', ')
  return new FleetError(
    'invalid',
    errorKey,
    `${key}: ${shown} ${ids.length === 1 ? 'was' : 'were'} not found`,
  )
}

/** Runs a write; throws 'conflict' with the name if it is taken. */
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

/** How many users of an object an error message names. */
export const usersNamed = 5

/**
 * Deletes an object that is not in use. The foreign key refuses one that came into use between the check and the delete.
 * Throws 'conflict' that names the users.
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
