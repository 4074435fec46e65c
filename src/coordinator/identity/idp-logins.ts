/** Queries of identity provider logins: accounts of subjects, used states, one-time codes. */
import type { Queries } from '../store/store.js'
import type { Membership } from './user-queries.js'

/** A user's identity at a provider, within one organization. */
export interface Subject {
  readonly organizationId: number
  readonly issuer: string
  readonly subject: string
}

/** Undefined at the subject's first login. */
export async function findSubjectAccount(
  queries: Queries,
  { organizationId, issuer, subject }: Subject,
): Promise<number | undefined> {
  const row = await queries
    .selectFrom('idpSubjects')
    .select('accountId')
    .where('organizationId', '=', organizationId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.accountId
}

export async function insertSubject(
  queries: Queries,
  subject: Subject,
  accountId: number,
): Promise<void> {
  await queries
    .insertInto('idpSubjects')
    .values({ ...subject, accountId })
    .execute()
}

/** Returns false if the state was already used. Also deletes expired states. */
export async function useLoginState(
  queries: Queries,
  digest: string,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number },
): Promise<boolean> {
  await queries.deleteFrom('usedLoginStates').where('expiresAt', '<', now).execute()
  const { numInsertedOrUpdatedRows } = await queries
    .insertInto('usedLoginStates')
    .values({ digest, expiresAt })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Also deletes expired codes. */
export async function insertLoginCode(
  queries: Queries,
  digest: string,
  membership: Membership,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number },
): Promise<void> {
  await queries.deleteFrom('loginCodes').where('expiresAt', '<', now).execute()
  await queries
    .insertInto('loginCodes')
    .values({ digest, ...membership, expiresAt })
    .execute()
}

/** If several callers present the same code, one gets the membership, the others undefined. */
export async function takeLoginCode(
  queries: Queries,
  digest: string,
  now: number,
): Promise<Membership | undefined> {
  const row = await queries
    .deleteFrom('loginCodes')
    .where('digest', '=', digest)
    .returning(['organizationId', 'accountId', 'expiresAt'])
    .executeTakeFirst()
  if (!row || row.expiresAt <= now) return undefined
  return { organizationId: row.organizationId, accountId: row.accountId }
}

/** Deletes the codes of logins that have not fetched their tokens yet. */
export async function deleteLoginCodes(queries: Queries): Promise<void> {
  await queries.deleteFrom('loginCodes').execute()
}
