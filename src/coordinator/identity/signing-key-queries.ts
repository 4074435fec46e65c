/** The key pairs that sign access tokens; the private keys are sealed. */
import type { Selectable } from 'kysely'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

export type SigningKeyRecord = Readonly<Selectable<Tables['signingKeys']>>

/** Newest first. */
export async function listSigningKeys(queries: Queries): Promise<SigningKeyRecord[]> {
  return queries
    .selectFrom('signingKeys')
    .selectAll()
    .orderBy('createdAt', 'desc')
    .orderBy('kid')
    .execute()
}

export async function insertSigningKey(queries: Queries, key: SigningKeyRecord): Promise<void> {
  await queries.insertInto('signingKeys').values(key).execute()
}

export async function deleteSigningKeysBefore(queries: Queries, createdAt: number): Promise<void> {
  await queries.deleteFrom('signingKeys').where('createdAt', '<', createdAt).execute()
}
