/** Objects whose problems must be checked again. Written together with the events of changes; taken by the problem follower. */
import { sql } from 'kysely'
import type { ChangeKind } from '../../resources/event.js'
import type { ProblemBearer } from '../../resources/problem.js'
import { listIds, prepareGiven } from '../store/given-rows.js'
import type { Queries } from '../store/store.js'

export interface ProblemCheck {
  readonly objectType: ProblemBearer
  readonly objectId: number
}

/** Other affected objects are derived from these by the follower. */
const concernedBy: Partial<Readonly<Record<ChangeKind, ProblemBearer>>> = {
  agent: 'agent',
  group: 'vclgroup',
  vclgroup: 'vclgroup',
  backend: 'vclgroup',
  deployment: 'deployment',
  invalidation: 'invalidation',
  certificate: 'certificate',
  webhook: 'webhook',
  rollout: 'rollout',
}

export function findChecks(
  changes: readonly { readonly kind: ChangeKind; readonly objectId: number }[],
): ProblemCheck[] {
  return changes.flatMap(({ kind, objectId }) => {
    const objectType = concernedBy[kind]
    return objectType === undefined ? [] : [{ objectType, objectId }]
  })
}

export async function noteChecks(queries: Queries, checks: readonly ProblemCheck[]): Promise<void> {
  const once = new Map(checks.map((check) => [`${check.objectType} ${check.objectId}`, check]))
  await insertChecks(queries, [...once.values()])
}

const insertChecks = prepareGiven(
  { objectType: 'text', objectId: 'bigint' },
  ({ objectType, objectId, from }) => sql`
    insert into "problemChecks" ("objectType", "objectId")
      select ${objectType}, ${objectId} ${from} where true on conflict do nothing`,
)

export async function hasChecks(queries: Queries): Promise<boolean> {
  const row = await queries
    .selectFrom('problemChecks')
    .select('objectId')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes some checks of one type. The objects are read afterwards, so that later changes are noted again. */
export async function takeChecks(
  queries: Queries,
  limitOf: (type: ProblemBearer) => number,
): Promise<ProblemCheck[]> {
  const first = await queries
    .selectFrom('problemChecks')
    .select('objectType')
    .limit(1)
    .executeTakeFirst()
  if (!first) return []
  const objectType = first.objectType as ProblemBearer // only written by noteChecks
  const rows = await queries
    .selectFrom('problemChecks')
    .select('objectId')
    .where('objectType', '=', objectType)
    .orderBy('objectId')
    .limit(limitOf(objectType))
    .execute()
  const ids = rows.map(({ objectId }) => objectId)
  await queries
    .deleteFrom('problemChecks')
    .where('objectType', '=', objectType)
    .where('objectId', 'in', listIds(ids))
    .execute()
  return ids.map((objectId) => ({ objectType, objectId }))
}
