/** The newest calls in the API log that changed something, and details of what they changed. */
import { sql } from 'kysely'
import type { InvalidationContent } from '../invalidations/invalidation.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Log entries examined: any number of refused calls and failed logins may stand between two changes. */
const maxExamined = 1_000
/** Characters of JSON; longer contents are omitted. */
const maxContentLength = 4_000

/** Returns the newest call first. */
export function readChangingCalls(queries: Queries, scope: Scope, limit: number) {
  return (
    queries
      .selectFrom((e) =>
        e
          .selectFrom('apiLogs')
          .select(['id', 'createdAt', 'account', 'method', 'path', 'keyId', 'status', 'asksOnly'])
          .where(within(scope, 'apiLogs'))
          .orderBy('id', 'desc')
          .limit(maxExamined)
          .as('newest'),
      )
      .select(['createdAt', 'account', 'method', 'path', 'keyId'])
      .where('asksOnly', '=', 0)
      .where('status', '<', 400)
      // Logins are most of the log, and change nothing.
      .where((e) =>
        e.or([e('path', 'not like', '/api/v1/auth/%'), e('path', '=', '/api/v1/auth/password')]),
      )
      .where('path', 'not like', '/api/rest/%')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
  )
}

/** Returns the contents of invalidations by id, without those that exceed `maxContentLength`. */
export async function readContents(
  queries: Queries,
  scope: Scope,
  ids: readonly number[],
): Promise<ReadonlyMap<number, InvalidationContent>> {
  const rows = await queries
    .selectFrom('invalidations')
    .select(['id', 'content'])
    .where(within(scope, 'invalidations'))
    .where('id', 'in', [...ids])
    .where(sql<number>`length(${sql.ref('content')})`, '<=', maxContentLength)
    .execute()
  return new Map(
    // The column is only written from such an object.
    rows.map(({ id, content }) => [id, JSON.parse(content) as InvalidationContent]),
  )
}

/** Returns the newest revisions of these groups since `since` that were created by a call. */
export function readRevisions(
  queries: Queries,
  scope: Scope,
  { groupIds, since }: { readonly groupIds: readonly number[]; readonly since: number },
) {
  return queries
    .selectFrom('history')
    .select(['groupId', 'revision', 'at', 'account'])
    .where(within(scope, 'history'))
    .where('groupId', 'in', [...groupIds])
    .where('at', '>=', since)
    .where('revision', 'is not', null)
    .where('action', 'not in', withoutRevision)
    .orderBy('id', 'desc')
    .limit(maxRevisions)
    .execute()
}

/** Undeploy and the actions on stages record the current revision and create none. */
const withoutRevision = ['undeploy', 'stage', 'delstage']
/** Enough for the changes of one overview. */
const maxRevisions = 200
