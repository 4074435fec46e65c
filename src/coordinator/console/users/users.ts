/** The users of the console: the accounts that have a role in it. An Admin sees those of its organization, others themselves. */
import { toConsoleRole, type ConsoleRole } from '../../../resources/console-role.js'
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import {
  readAssignableGroupIds,
  readConsoleUsers,
  type ConsoleUserAccess,
  type ConsoleUserRecord,
} from './user-queries.js'
import type { Scope } from '../../store/scope.js'
import type { Queries } from '../../store/store.js'
import { scopeOf, type StateService } from '../../service.js'

export interface ConsoleUser {
  readonly accountId: number
  readonly name: string
  readonly email: string
  readonly role: ConsoleRole
  /** Of an Admin none: it sees all. */
  readonly groupIds: readonly number[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** By id. */
export async function listConsoleUsers(
  { store }: StateService,
  actor: Actor,
): Promise<ConsoleUser[]> {
  const id = isAdmin(actor) ? undefined : actor.accountId
  const records = await readConsoleUsers(store.queries, scopeOf(actor), id)
  return records.flatMap((record) => toConsoleUser(actor, record) ?? [])
}

/** Undefined: there is none, or not for this caller. */
export async function findConsoleUser(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleUser | undefined> {
  if (!isAdmin(actor) && id !== actor.accountId) return undefined
  const record = await findRecord(store.queries, scopeOf(actor), id)
  return record && toConsoleUser(actor, record)
}

export async function findRecord(
  queries: Queries,
  scope: Scope,
  accountId: number,
): Promise<ConsoleUserRecord | undefined> {
  return (await readConsoleUsers(queries, scope, accountId))[0]
}

export function isAdmin(actor: Actor): boolean {
  return actor.console?.role === 'Admin'
}

/** For the system administrator: of several organizations the one where the account has the highest role. */
export function toConsoleUser(actor: Actor, record: ConsoleUserRecord): ConsoleUser | undefined {
  const { accountId, name, email, createdAt, updatedAt } = record
  const isSelf = accountId === actor.accountId
  const accesses = isSelf
    ? record.accesses.filter((access) => isIn(actor, access))
    : record.accesses
  const roles = accesses.map(({ rights, consoleRole }) => toConsoleRole(rights, consoleRole))
  const role = record.systemAdministrator
    ? 'Admin'
    : (['Admin', 'User', 'ReadOnly'] as const).find((one) => roles.includes(one))
  // Whoever got in without a role reads what was assigned to it: nothing (organization-access.ts).
  if (role === undefined && !isSelf) return undefined
  const groupIds = role === 'Admin' ? [] : accesses.flatMap((access) => access.groupIds)
  return { accountId, name, email, role: role ?? 'ReadOnly', groupIds, createdAt, updatedAt }
}

function isIn(actor: Actor, { organizationId }: ConsoleUserAccess): boolean {
  return organizationId === actor.organizationId
}

/** The groups that a body assigns. Throws 'invalid' naming those that users of this organization cannot be for. */
export async function requireGroups(
  queries: Queries,
  organizationId: number | null,
  groups: readonly string[],
): Promise<number[]> {
  const ids = new Map(groups.map((text) => [text, parseObjectId('group', text)]))
  const known = [...ids.values()].filter((id) => id !== undefined)
  const usable =
    known.length === 0 ? [] : await readAssignableGroupIds(queries, organizationId, known)
  const missing = [...ids].filter(([, id]) => id === undefined || !usable.includes(id))
  if (missing.length === 0) return usable
  const named = missing.slice(0, 10).map(([text]) => text.slice(0, 30))
  throw new FleetError(
    'invalid',
    'user',
    `groups: ${named.join(', ')} ${missing.length === 1 ? 'was' : 'were'} not found`,
  )
}
