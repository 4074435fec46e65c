/** The open problems of all objects, as written by the problem follower (docs/behaviour.md, Problems). */
import { groupBy } from '../../group-by.js'
import { may, type Actor } from '../../resources/permission.js'
import {
  bearerTypes,
  problemBearers,
  type OpenProblem,
  type Problem,
  type ProblemBearer,
  type ProblemCode,
} from '../../resources/problem.js'
import { inPieces } from '../store/in-pieces.js'
import { visibleProblems, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { toProblems, type Finding } from './make-problem.js'
import { isListedOnce } from './listed-once.js'

export interface OpenProblems {
  /** Ordered by severity, then by age, the oldest first. */
  readonly problems: readonly OpenProblem[]
  readonly total: number
}

/** The problems that the caller may read, at most `limit`; a problem of both a deployment and its groups is listed once. */
export async function readOpenProblems(
  queries: Queries,
  actor: Actor,
  limit: number,
): Promise<OpenProblems> {
  const types = listReadableBearers(actor)
  if (types.length === 0) return { problems: [], total: 0 }
  const scope: Scope =
    actor.organizationId === null
      ? { kind: 'all' }
      : { kind: 'organization', organizationId: actor.organizationId }
  const open = queries
    .selectFrom('openProblems')
    .where('endedAt', 'is', null)
    .where('objectType', 'in', types)
    .where(visibleProblems(scope))
    .$if(types.includes('deployment') && types.includes('vclgroup'), (rows) =>
      rows.where(isListedOnce),
    )
  const rows = await open
    .select(['objectType', 'objectId', 'objectName', 'organizationId', 'data', 'sharedData'])
    .orderBy('severity', 'desc')
    .orderBy('since')
    .orderBy('objectType')
    .orderBy('objectId')
    .limit(limit)
    .execute()
  const { count } = await open
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const isOwn = (organizationId: number | null): boolean =>
    scope.kind === 'all' || scope.organizationId === organizationId
  const problems = rows.map(({ objectType: type, objectId: id, objectName: name, ...row }) => {
    const json = isOwn(row.organizationId) ? row.data : (row.sharedData ?? row.data)
    // Only written by the follower.
    return { object: { type, id, name }, ...(JSON.parse(json) as Problem) }
  })
  return { problems, total: count }
}

/** The types of objects whose problems the caller may read. */
export function listReadableBearers(actor: Actor): readonly ProblemBearer[] {
  return bearerTypes.filter((type) => may(actor, problemBearers[type], 'read'))
}

/** Turns findings into problems, by object. Queries nothing for objects whose findings all have a time. */
export async function dateFindings(
  queries: Queries,
  type: ProblemBearer,
  found: ReadonlyMap<number, readonly Finding[]>,
  nowMs: number,
): Promise<ReadonlyMap<number, readonly Problem[]>> {
  const undated = [...found].filter(([, own]) => own.some(({ sinceMs }) => sinceMs === null))
  const firstSeen = await readFirstSeen(
    queries,
    type,
    undated.map(([id]) => id),
  )
  return new Map(
    [...found].map(([id, own]) => [
      id,
      toProblems(own, (code) => firstSeen.get(id)?.get(code) ?? nowMs),
    ]),
  )
}

/** When each of the objects' problems was first seen. */
async function readFirstSeen(
  queries: Queries,
  type: ProblemBearer,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<ProblemCode, number>>> {
  const rows = await inPieces(ids, (piece) =>
    queries
      .selectFrom('openProblems')
      .select(['objectId', 'code', 'seenAt'])
      .where('objectType', '=', type)
      .where('objectId', 'in', piece)
      .execute(),
  )
  return new Map(
    [...groupBy(rows, ({ objectId }) => objectId)].map(([id, own]) => [
      id,
      new Map(own.map(({ code, seenAt }) => [code, seenAt])),
    ]),
  )
}

/** Counts for the whole fleet; codes without open problems are omitted. */
export async function countOpenProblems(queries: Queries): Promise<ReadonlyMap<string, number>> {
  const rows = await queries
    .selectFrom('openProblems')
    .select(['code', (e) => e.fn.countAll<number>().as('count')])
    .where('endedAt', 'is', null)
    .groupBy('code')
    .execute()
  return new Map(rows.map(({ code, count }) => [code, count]))
}
