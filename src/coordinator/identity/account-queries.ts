/** Queries of accounts. Names are unique in the whole store; passwords are stored as argon2id hashes only. */
import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import { account } from '../../resources/account.js'
import { groupBy } from '../../group-by.js'
import { readingOf } from '../api/noun-reading.js'
import type { ListColumns, NestedColumn, PlainColumn } from '../store/list-query.js'
import type { NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, toRow, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { visibleAccounts, within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { insertRow, updateRow } from '../store/write-rows.js'
import type { AccountFields } from './account-fields.js'

export interface AccountRecord extends StoredRecord<typeof account.fields> {
  /** The organizations that the reader may see, ordered by id. */
  readonly organizations: readonly NamedReference[]
}

/** The part of an account that a login needs. */
export interface LoginAccount {
  readonly id: number
  /** argon2id, in its standard encoding. Empty: the account has no password and logs in by other means. */
  readonly passwordHash: string
  readonly locked: boolean
  readonly systemAdministrator: boolean
}

interface NewAccount extends Partial<AccountFields> {
  readonly name: string
  readonly passwordHash: string
  readonly systemAdministrator: boolean
  readonly createdAt: number
  /** The owner. Null or omitted: the system administrator. */
  readonly organizationId?: number | null
}

/** An organization cannot list or filter by the other organizations of its accounts. */
function accountColumns(scope: Scope) {
  return {
    ...listColumns(account.fields, 'accounts'),
    'organizations.id': organizationOf(scope, { column: 'organizations.id', type: 'number' }),
    'organizations.name': organizationOf(scope, { column: 'organizations.name', type: 'text' }),
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

function selectAccounts(queries: Queries, scope: Scope) {
  return queries.selectFrom('accounts').selectAll('accounts').where(visibleAccounts(scope))
}

type AccountRow = Awaited<ReturnType<ReturnType<typeof selectAccounts>['executeTakeFirstOrThrow']>>

const readStored = rowReader(account.fields)

/** Adds the organizations to the rows with one more query. Keeps the order. */
async function toAccountRecords(
  rows: readonly AccountRow[],
  queries: Queries,
  scope: Scope,
): Promise<AccountRecord[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const found = await queries
    .selectFrom('users')
    .innerJoin('organizations', 'organizations.id', 'users.organizationId')
    .select(['users.accountId', 'organizations.id', 'organizations.name'])
    .where('users.accountId', 'in', ids)
    .where(within(scope, 'users'))
    .orderBy('organizations.id')
    .execute()
  const byAccount = groupBy(found, ({ accountId }) => accountId)
  return rows.map((row) => ({
    ...readStored(row),
    organizations: (byAccount.get(row.id) ?? []).map(({ id, name }) => ({ id, name })),
  }))
}

export const accountReading = readingOf({
  noun: 'account',
  select: selectAccounts,
  columnsFor: accountColumns,
  toRecords: toAccountRecords,
})

export async function findAccountByName(
  queries: Queries,
  name: string,
): Promise<LoginAccount | undefined> {
  const row = await selectLogin(queries).where('name', '=', name).executeTakeFirst()
  return row && { ...row, ...toFlags(row) }
}

/** Ignores the visibility filter. */
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

/** True if another system administrator exists whose account is not locked. */
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

/** Returns the new account's id. */
export async function insertAccount(queries: Queries, made: NewAccount): Promise<number> {
  const { passwordHash, systemAdministrator, createdAt, organizationId = null, ...fields } = made
  const row = {
    ...toRow(account.fields, { email: '', locked: false, ...fields }),
    passwordHash,
    systemAdministrator: systemAdministrator ? (1 as const) : (0 as const),
    organizationId,
  }
  const id = await insertRow(queries, 'accounts', row, createdAt)
  await holdQuota(queries, organizationId, 'accounts')
  return id
}

export async function updateAccount(
  queries: Queries,
  id: number,
  fields: AccountFields,
  now: number,
): Promise<void> {
  const row = toRow(account.fields, fields)
  await updateRow(queries, 'accounts', id, { ...row, updatedAt: now })
}

export async function updatePassword(
  queries: Queries,
  id: number,
  passwordHash: string,
  now: number,
): Promise<void> {
  await updateRow(queries, 'accounts', id, { passwordHash, updatedAt: now })
}
