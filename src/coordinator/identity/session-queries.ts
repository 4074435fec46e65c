/** Sessions: one row from login to logout, with a digest of the refresh token that each refresh replaces. */
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
  /** SHA-256 (hex) of the current refresh token. */
  readonly refreshDigest: string
  /** Milliseconds since 1970, like all times here. */
  readonly lastUsedAt: number
  readonly refreshExpiresAt: number
  readonly account: {
    readonly name: string
    readonly locked: boolean
    readonly systemAdministrator: boolean
  }
  /** Null: a session of the system administrator. */
  readonly organization: SessionOrganization | null
  /** The account's role in the organization; null: the account is not a user of it, or the session has no organization. */
  readonly role: OrganizationRole | null
  /** What an API token allows; null: a login. */
  readonly limits: Grants | null
}

interface SessionOrganization {
  readonly name: string
  readonly locked: boolean
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
}

/** A session as the API answers it. */
export interface ListedSession extends StoredRecord<typeof session.fields> {
  /** 0: it cannot be refreshed. */
  readonly refreshExpiresAt: number
  /** What an API token allows; null: a login. */
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

/** The list contains only active sessions; `find` also returns expired ones. */
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

/** Reads a session with its account, organization and role, in one query. */
export async function findSession(
  queries: Queries,
  id: number,
): Promise<SessionRecord | undefined> {
  return (await readSessions(queries, [id]))[0]
}

/** Reads the sessions with these ids, as far as they exist, in one query. */
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
            name: row.organizationName ?? '', // never null because of the foreign key, here and below
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
  /** Of an API token, like its limits; console sessions also have a label. */
  readonly label?: string
  readonly limits?: Grants
}

/** Returns the new session's id. */
export async function insertSession(queries: Queries, session: NewSession): Promise<number> {
  const { label = '', limits = null, ...rest } = session
  const { id } = await queries
    .insertInto('sessions')
    .values({ ...rest, label, limits: limits && JSON.stringify(limits) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Replaces the refresh token; returns false if `oldDigest` is no longer the current one. */
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

/** Records that the session is used; this also prolongs one without access tokens (the console's). */
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

/** Returns how many there were. */
export async function deleteAllSessions(queries: Queries): Promise<number> {
  const { numDeletedRows } = await queries.deleteFrom('sessions').executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Counts an account's API tokens in all organizations. */
export async function countApiTokens(queries: Queries, accountId: number): Promise<number> {
  const { count } = await queries
    .selectFrom('sessions')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .where('limits', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Deletes the account's sessions with this label except the newest `kept`; logins of the controller API have an empty label. */
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

/** Deletes the sessions that can neither be used nor refreshed. */
export async function deleteExpiredSessions(queries: Queries, now: number): Promise<void> {
  await queries
    .deleteFrom('sessions')
    .where('refreshExpiresAt', '<', now)
    .where('accessExpiresAt', '<', now)
    .execute()
}
