/** Who may log in: names are unique in the whole store, passwords are kept as argon2id only. */
import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import type { ListColumns, NestedColumn, PlainColumn } from '../store/list-query.js'
import type { NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { visibleAccounts, within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface AccountRecord {
  readonly id: number
  readonly name: string
  readonly email: string
  readonly locked: boolean
  readonly systemAdministrator: boolean
  /** Those that the reader may see, by id. */
  readonly organizations: readonly NamedReference[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** As a login needs it. */
export interface LoginAccount {
  readonly id: number
  /** argon2id, in its own encoding; empty: it has none and comes in by other ways. */
  readonly passwordHash: string
  readonly locked: boolean
  readonly systemAdministrator: boolean
}

export interface NewAccount {
  readonly name: string
  readonly passwordHash: string
  readonly systemAdministrator: boolean
  readonly createdAt: number
  readonly email?: string
  readonly locked?: boolean
  /** Whose administrators make it; null or left out: the system administrator does. */
  readonly organizationId?: number | null
}

/** An organization's list tells nothing of the other organizations of its accounts, not by a filter either. */
export function accountColumns(scope: Scope) {
  return {
    id: { column: 'accounts.id', type: 'number' },
    name: { column: 'accounts.name', type: 'text' },
    email: { column: 'accounts.email', type: 'text' },
    locked: { column: 'accounts.locked', type: 'flag' },
    systemAdministrator: { column: 'accounts.systemAdministrator', type: 'flag' },
    'organizations.id': organizationOf(scope, { column: 'organizations.id', type: 'number' }),
    'organizations.name': organizationOf(scope, { column: 'organizations.name', type: 'text' }),
    created: { column: 'accounts.createdAt', type: 'time' },
    updated: { column: 'accounts.updatedAt', type: 'time' },
  } satisfies ListColumns
}

function organizationOf(scope: Scope, of: PlainColumn): NestedColumn {
  const exists = (condition: Expression<SqlBool>) =>
    expressionBuilder<Tables, 'accounts'>().exists((e) =>
      e
        .selectFrom('users')
        .innerJoin('organizations', 'organizations.id', 'users.organizationId')
        .select('users.id')
        .whereRef('users.accountId', '=', 'accounts.id')
        .where(within(scope, 'users'))
        .where(condition),
    )
  return { type: 'nested', of, exists }
}

export function selectAccounts(queries: Queries, scope: Scope) {
  return queries.selectFrom('accounts').selectAll('accounts').where(visibleAccounts(scope))
}

export async function findAccount(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<AccountRecord | undefined> {
  const row = await selectAccounts(queries, scope).where('accounts.id', '=', id).executeTakeFirst()
  return row && (await toAccountRecords(queries, scope, [row]))[0]
}

type AccountRow = Awaited<ReturnType<ReturnType<typeof selectAccounts>['executeTakeFirstOrThrow']>>

/** Ids in one statement: SQLite takes some ten thousand parameters. */
const idsAtOnce = 1000

/** Gives the rows their organizations; the order stays. */
export async function toAccountRecords(
  queries: Queries,
  scope: Scope,
  rows: readonly AccountRow[],
): Promise<AccountRecord[]> {
  const organizations = new Map<number, NamedReference[]>()
  for (let start = 0; start < rows.length; start += idsAtOnce) {
    const ids = rows.slice(start, start + idsAtOnce).map(({ id }) => id)
    const found = await queries
      .selectFrom('users')
      .innerJoin('organizations', 'organizations.id', 'users.organizationId')
      .select(['users.accountId', 'organizations.id', 'organizations.name'])
      .where('users.accountId', 'in', ids)
      .where(within(scope, 'users'))
      .orderBy('organizations.id')
      .execute()
    for (const { accountId, ...organization } of found)
      organizations.set(accountId, [...(organizations.get(accountId) ?? []), organization])
  }
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    email: row.email,
    locked: row.locked === 1,
    systemAdministrator: row.systemAdministrator === 1,
    organizations: organizations.get(row.id) ?? [],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }))
}

export async function findAccountByName(
  queries: Queries,
  name: string,
): Promise<LoginAccount | undefined> {
  const row = await selectLogin(queries).where('name', '=', name).executeTakeFirst()
  return row && { ...row, ...toFlags(row) }
}

/** Whoever's it is. */
export async function findLoginAccount(
  queries: Queries,
  id: number,
): Promise<LoginAccount | undefined> {
  const row = await selectLogin(queries).where('id', '=', id).executeTakeFirst()
  return row && { ...row, ...toFlags(row) }
}

function selectLogin(queries: Queries) {
  return queries
    .selectFrom('accounts')
    .select(['id', 'passwordHash', 'locked', 'systemAdministrator'])
}

function toFlags(row: { readonly locked: 0 | 1; readonly systemAdministrator: 0 | 1 }) {
  return { locked: row.locked === 1, systemAdministrator: row.systemAdministrator === 1 }
}

export async function hasAccounts(queries: Queries): Promise<boolean> {
  return (
    (await queries.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined
  )
}

/** System administrators that may log in, beside this account. */
export async function hasOtherSystemAdministrator(queries: Queries, id: number): Promise<boolean> {
  const row = await queries
    .selectFrom('accounts')
    .select('id')
    .where('systemAdministrator', '=', 1)
    .where('locked', '=', 0)
    .where('id', '!=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** Answers the new account's id. */
export async function insertAccount(queries: Queries, account: NewAccount): Promise<number> {
  const { name, passwordHash, systemAdministrator, createdAt } = account
  const { email = '', locked = false, organizationId = null } = account
  const { id } = await queries
    .insertInto('accounts')
    .values({
      name,
      passwordHash,
      email,
      locked: locked ? 1 : 0,
      systemAdministrator: systemAdministrator ? 1 : 0,
      organizationId,
      createdAt,
      updatedAt: createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await holdQuota(queries, organizationId, 'accounts')
  return id
}

export async function updateAccount(
  queries: Queries,
  id: number,
  fields: { readonly name: string; readonly email: string; readonly locked: boolean },
  now: number,
): Promise<void> {
  const { name, email, locked } = fields
  await queries
    .updateTable('accounts')
    .set({ name, email, locked: locked ? 1 : 0, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

export async function updatePassword(
  queries: Queries,
  id: number,
  passwordHash: string,
  now: number,
): Promise<void> {
  await queries
    .updateTable('accounts')
    .set({ passwordHash, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

/** Its sessions and what it may do go with it. */
export async function deleteAccount(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('accounts').where('id', '=', id).execute()
}
