/** Who may log in: names are unique in the whole store, passwords are kept as argon2id only. */
import type { Selectable } from 'kysely'
import type { AccountsTable } from './schema.js'
import type { Queries } from './store.js'

export interface AccountRecord {
  readonly id: number
  readonly name: string
  /** argon2id, in its own encoding. */
  readonly passwordHash: string
  readonly locked: boolean
  readonly systemAdministrator: boolean
}

export async function findAccountByName(
  queries: Queries,
  name: string,
): Promise<AccountRecord | undefined> {
  const row = await queries
    .selectFrom('accounts')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findAccount(
  queries: Queries,
  id: number,
): Promise<AccountRecord | undefined> {
  const row = await queries
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function hasAccounts(queries: Queries): Promise<boolean> {
  return (
    (await queries.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined
  )
}

/** Answers the new account's id. */
export async function insertAccount(
  queries: Queries,
  account: Omit<AccountRecord, 'id' | 'locked'> & { readonly createdAt: number },
): Promise<number> {
  const { name, passwordHash, systemAdministrator, createdAt } = account
  const { id } = await queries
    .insertInto('accounts')
    .values({
      name,
      passwordHash,
      email: '',
      locked: 0,
      systemAdministrator: systemAdministrator ? 1 : 0,
      createdAt,
      updatedAt: createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
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

function fromRow(row: Selectable<AccountsTable>): AccountRecord {
  return {
    id: row.id,
    name: row.name,
    passwordHash: row.passwordHash,
    locked: row.locked === 1,
    systemAdministrator: row.systemAdministrator === 1,
  }
}
