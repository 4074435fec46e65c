/** Permissions: what a regular user may read or write, a type at a time. Changing them needs write on `perm` (choices: 2, Who). */
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor, PermissionType } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { findAccount } from './account-queries.js'
import {
  deletePermission as deletePermissionRow,
  findPermission as findPermissionRow,
  fromRow,
  insertPermission,
  permissionColumns,
  selectPermissions,
  updatePermission as updatePermissionRow,
  type PermissionRecord,
} from './permission-queries.js'
import { findStanding } from './user-queries.js'
import { isUniqueViolation } from '../store/violation.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { chooseOwner, notThere, type OwnerReference } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { tellCredentialsChanged } from './sessions.js'
import { organizationMissing } from './users.js'

export type { PermissionRecord } from './permission-queries.js'

export const permissionListFields = Object.keys(permissionColumns)

export async function listPermissions(
  { store }: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<PermissionRecord>> {
  const list = parseListQuery(query, permissionColumns, 'permission')
  const permissions = selectPermissions(store.queries, scopeOf(actor))
  return readLongList(permissions, list, permissionColumns, (rows) => rows.map(fromRow))
}

export async function findPermission(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<PermissionRecord | undefined> {
  return findPermissionRow(store.queries, scopeOf(actor), id)
}

/** Null: the default, which is to read and not to write. */
interface AccessChange {
  readonly read?: boolean | null
  readonly write?: boolean | null
}

interface NewPermission extends AccessChange {
  readonly account: { readonly id: number }
  readonly type: PermissionType
  readonly organization?: OwnerReference
}

/** Throws 'invalid' for an account that is no user of the organization, 'conflict' when it has one for the type. */
export async function createPermission(
  service: StateService,
  actor: Actor,
  wanted: NewPermission,
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
        (await findAccount(queries, scopeOf(actor), account.id)) &&
        (await findStanding(queries, membership))
      if (!isUser) throw notThere('account', [account.id], 'permission')
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
  tellCredentialsChanged(service)
  return readAgain(service, actor, id)
}

export async function updatePermission(
  service: StateService,
  actor: Actor,
  permission: PermissionRecord,
  change: AccessChange,
): Promise<PermissionRecord> {
  const write = merge(change, permission.write)
  await service.store.transaction((queries) =>
    updatePermissionRow(queries, permission.id, write, service.now()),
  )
  tellCredentialsChanged(service)
  return readAgain(service, actor, permission.id)
}

export async function deletePermission(
  service: StateService,
  permission: PermissionRecord,
): Promise<void> {
  await service.store.transaction((queries) => deletePermissionRow(queries, permission.id))
  tellCredentialsChanged(service)
}

/** Whether it is to write; write implies read, and neither would be no permission. */
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

async function readAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<PermissionRecord> {
  const permission = await findPermission(service, actor, id)
  if (!permission) throw new FleetError('not-found', 'permission', `${id} was not found`)
  return permission
}
