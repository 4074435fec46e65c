/**
 * Permissions: what a regular user may read or write, one type each. Changing them needs write on `perm`
 * (docs/behaviour.md, Permissions).
 */
import type { Actor } from '../../resources/permission.js'
import type { permission } from '../../resources/user-permission.js'
import { FleetError } from '../../errors.js'
import { accountReading } from './account-queries.js'
import { insertPermission, permissionReading, type PermissionRecord } from './permission-queries.js'
import { findRights } from './user-queries.js'
import { isUniqueViolation } from '../store/violation.js'
import { deleteRow, updateRow } from '../store/write-rows.js'
import { chooseOwner, referencesNotFound } from '../api/find-references.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import { notifyCredentialsChanged } from './sessions.js'
import { organizationMissing } from './users.js'

/** Throws 'invalid' if the account is not a user of the organization, 'conflict' if it already has a permission for the type. */
export async function createPermission(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof permission.fields>,
): Promise<PermissionRecord> {
  const { store, now } = service
  const { account, type } = wanted
  const organizationId = await chooseOwner(store.queries, actor, wanted.organization, 'permission')
  if (organizationId === null) throw organizationMissing('permission')
  const write = merge(wanted, false)
  const membership = { organizationId, accountId: account.id }
  const id = await store
    .decide(async (queries) => {
      const isUser =
        (await accountReading.find(queries, scopeOf(actor), account.id)) &&
        (await findRights(queries, membership))
      if (!isUser) throw referencesNotFound('account', [account.id], 'permission')
      return insertPermission(queries, membership, { type, write }, now())
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error
      throw new FleetError(
        'conflict',
        'permission',
        `the account has a permission for ${type} already; change that one`,
      )
    })
  notifyCredentialsChanged(service)
  return permissionReading.readAgain(service, actor, id)
}

export async function updatePermission(
  service: StateService,
  actor: Actor,
  before: PermissionRecord,
  change: AccessChange,
): Promise<PermissionRecord> {
  const write = merge(change, before.write) ? 1 : 0
  const row = { write, updatedAt: service.now() } as const
  await service.store.transaction((queries) => updateRow(queries, 'permissions', before.id, row))
  notifyCredentialsChanged(service)
  return permissionReading.readAgain(service, actor, before.id)
}

export async function deletePermission(
  service: StateService,
  found: PermissionRecord,
): Promise<void> {
  await service.store.transaction((queries) => deleteRow(queries, 'permissions', found.id))
  notifyCredentialsChanged(service)
}

/** Null is the default: read is true, write is false. */
type AccessChange = Pick<UpdateBody<typeof permission.fields>, 'read' | 'write'>

/** Returns `write`, which implies read. Throws if both are false, because that would be no permission. */
function merge({ read, write }: AccessChange, before: boolean): boolean {
  const writes = write === undefined ? before : (write ?? false)
  if (read === false && !writes)
    throw new FleetError(
      'invalid',
      'permission',
      'read and write are both false; delete the permission instead',
    )
  return writes
}
