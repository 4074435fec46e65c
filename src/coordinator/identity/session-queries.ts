/** Logins that live: one row from login to logout, its refresh token as a digest that each refresh replaces. */
import { sql } from 'kysely'
import type { Grants, OrganizationRole } from '../../resources/permission.js'
import { session } from '../../resources/session.js'
import { readingOf } from '../api/noun-reading.js'
import type { ListColumns } from '../store/list-query.js'
import { listColumns, rowReader, storedColumns, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface SessionRecord {
  readonly id: number
  readonly accountId: number
  readonly organizationId: number | null
  /** SHA-256 (hex) of the refresh token in force. */
  readonly refreshDigest: string
  /** Milliseconds since 1970, as all times here. */
  readonly lastUsedAt: number
  readonly refreshExpiresAt: number
  readonly account: {
    readonly name: string
    readonly locked: boolean
    readonly systemAdministrator: boolean
  }
  /** Null: the system administrator's. */
  readonly organization: SessionOrganization | null
  /** In the organization; null: the account is not a user of it, or there is none. */
  readonly role: OrganizationRole | null
  /** Of an API token; null: a login. */
  readonly limits: Grants | null
}

interface SessionOrganization {
  readonly name: string
  readonly locked: boolean
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
}

/** As the list of sessions tells it. */
export interface ListedSession extends StoredRecord<typeof session.fields> {
  /** 0: it cannot be refreshed. */
  readonly refreshExpiresAt: number
  /** What an API token was made for; null: a login. */
  readonly limits: Grants | null
}

export interface SessionTimes {
  readonly lastUsedAt: number
  readonly accessExpiresAt: number
  /** 0: it cannot be refreshed. */
  readonly refreshExpiresAt: number
}

const sessionColumns = {
  ...listColumns(session.fields, 'sessions'),
  refreshExpire: {
    column: sql`(nullif(sessions."refreshExpiresAt", 0) / 1000)`,
    type: 'number',
    nullable: true,
  },
} satisfies ListColumns

function selectListed(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.accountId')
    .leftJoin('organizations', 'organizations.id', 'sessions.organizationId')
    .select(storedColumns(session.fields, 'sessions'))
    .select(['sessions.accountId', 'accounts.name as accountName'])
    .select(['sessions.organizationId', 'organizations.name as organizationName'])
    .select(['sessions.limits', 'sessions.refreshExpiresAt'])
    .where(within(scope, 'sessions'))
}

const readStored = rowReader(session.fields)

type ListedRow = Awaited<ReturnType<ReturnType<typeof selectListed>['executeTakeFirstOrThrow']>>

const listed = {
  noun: 'session',
  columnsFor: () => sessionColumns,
  toRecords: (rows: readonly ListedRow[]): ListedSession[] =>
    rows.map((row) => ({
      ...readStored(row),
      refreshExpiresAt: row.refreshExpiresAt,
      limits: parseLimits(row.limits),
    })),
} as const

const anyReading = readingOf({ ...listed, select: selectListed })

/** The list has those that live; any is found by its id. */
export const sessionReading: typeof anyReading = {
  ...anyReading,
  listing: {
    ...anyReading.listing,
    select: (queries, scope, now) =>
      selectListed(queries, scope).where((e) =>
        e.or([e('sessions.refreshExpiresAt', '>', now), e('sessions.accessExpiresAt', '>', now)]),
      ),
  },
}

/** A session with whom it belongs to: one query. */
export async function findSession(
  queries: Queries,
  id: number,
): Promise<SessionRecord | undefined> {
  return (await readSessions(queries, [id]))[0]
}

/** Those of them that are there: one query. */
export async function readSessions(
  queries: Queries,
  ids: readonly number[],
): Promise<SessionRecord[]> {
  const rows = await selectWithOwners(queries)
    .where('sessions.id', 'in', [...ids])
    .execute()
  return rows.map(toSessionRecord)
}

function selectWithOwners(queries: Queries) {
  return queries
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.accountId')
    .leftJoin('organizations', 'organizations.id', 'sessions.organizationId')
    .leftJoin('users', (join) =>
      join
        .onRef('users.organizationId', '=', 'sessions.organizationId')
        .onRef('users.accountId', '=', 'sessions.accountId'),
    )
    .select([
      'sessions.id',
      'sessions.accountId',
      'sessions.organizationId',
      'sessions.limits',
      'sessions.refreshDigest',
      'sessions.lastUsedAt',
      'sessions.refreshExpiresAt',
      'accounts.name',
      'accounts.locked',
      'accounts.systemAdministrator',
      'users.role',
      'organizations.name as organizationName',
      'organizations.locked as organizationLocked',
      'organizations.accessTtlSeconds',
      'organizations.refreshTtlSeconds',
    ])
}

type SessionRow = Awaited<
  ReturnType<ReturnType<typeof selectWithOwners>['executeTakeFirstOrThrow']>
>

function toSessionRecord(row: SessionRow): SessionRecord {
  return {
    ...row,
    limits: parseLimits(row.limits),
    account: {
      name: row.name,
      locked: row.locked === 1,
      systemAdministrator: row.systemAdministrator === 1,
    },
    organization:
      row.organizationId === null
        ? null
        : {
            name: row.organizationName ?? '', // the foreign key holds, here and below
            locked: row.organizationLocked === 1,
            accessTtlSeconds: row.accessTtlSeconds ?? 0,
            refreshTtlSeconds: row.refreshTtlSeconds ?? 0,
          },
  }
}

function parseLimits(json: string | null): Grants | null {
  return json === null ? null : (JSON.parse(json) as Grants) // written by insertSession only
}

interface NewSession extends SessionTimes {
  readonly accountId: number
  readonly organizationId: number | null
  readonly refreshDigest: string
  readonly createdAt: number
  /** Of an API token, as its limits are. */
  readonly label?: string
  readonly limits?: Grants
}

/** Answers the new session's id. */
export async function insertSession(queries: Queries, session: NewSession): Promise<number> {
  const { label = '', limits = null, ...rest } = session
  const { id } = await queries
    .insertInto('sessions')
    .values({ ...rest, label, limits: limits && JSON.stringify(limits) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Replaces the refresh token, unless `oldDigest` is no longer the one in force: then it answers false. */
export async function replaceRefreshDigest(
  queries: Queries,
  id: number,
  oldDigest: string,
  next: SessionTimes & { readonly refreshDigest: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('sessions')
    .set(next)
    .where('id', '=', id)
    .where('refreshDigest', '=', oldDigest)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** That it is used; one without access tokens lives as long as it is. */
export async function updateSession(
  queries: Queries,
  id: number,
  times: Partial<Pick<SessionTimes, 'lastUsedAt' | 'refreshExpiresAt'>>,
): Promise<void> {
  await queries.updateTable('sessions').set(times).where('id', '=', id).execute()
}

export async function deleteSession(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('sessions').where('id', '=', id).execute()
}

export async function deleteSessionsOf(queries: Queries, accountId: number): Promise<void> {
  await queries.deleteFrom('sessions').where('accountId', '=', accountId).execute()
}

/** Answers how many there were. */
export async function deleteAllSessions(queries: Queries): Promise<number> {
  const { numDeletedRows } = await queries.deleteFrom('sessions').executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Of an account, in all organizations. */
export async function countApiTokens(queries: Queries, accountId: number): Promise<number> {
  const { count } = await queries
    .selectFrom('sessions')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .where('limits', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Those with this label beyond the newest `kept`; logins of the controller have none. */
export async function deleteOldestLogins(
  queries: Queries,
  { accountId, label = '' }: { readonly accountId: number; readonly label?: string },
  kept: number,
): Promise<void> {
  const oldest = await queries
    .selectFrom('sessions')
    .select('id')
    .where('accountId', '=', accountId)
    .where('label', '=', label)
    .orderBy('id', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  if (!oldest) return
  await queries
    .deleteFrom('sessions')
    .where('accountId', '=', accountId)
    .where('label', '=', label)
    .where('id', '<=', oldest.id)
    .execute()
}

/** Those that can neither be used nor refreshed. */
export async function deleteExpiredSessions(queries: Queries, now: number): Promise<void> {
  await queries
    .deleteFrom('sessions')
    .where('refreshExpiresAt', '<', now)
    .where('accessExpiresAt', '<', now)
    .execute()
}
