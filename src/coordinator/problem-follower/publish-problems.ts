/** Publishes events for problems that opened or ended and have held for a while (docs/behaviour.md, Problems). */
import { groupBy } from '../../group-by.js'
import type { ProblemBearer, Problem } from '../../resources/problem.js'
import { insertEvents, lockEventCounter, type NewEvent } from '../events/event-queries.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { markPublished, removeRows } from './change-rows.js'
import type { ProblemRow } from './plan-rows.js'

/** Problems that appear and clear within this time are not reported. */
export const heldMs = 5_000
const rowsAtOnce = 200

/** Returns whether there is a new event. */
export async function publishProblems({ store, now }: StateService): Promise<boolean> {
  if ((await readDue(store.queries, now())).length === 0) return false
  return store.transaction(async (queries) => {
    const last = await lockEventCounter(queries)
    const due = await readDue(queries, now())
    const events = composeProblemEvents(due, now())
    await insertEvents(queries, last, events)
    await markPublished(
      queries,
      due.filter(({ endedAt }) => endedAt === null),
    )
    await removeRows(
      queries,
      due.filter(({ endedAt }) => endedAt !== null),
    )
    return events.length > 0
  })
}

async function readDue(queries: Queries, nowMs: number): Promise<ProblemRow[]> {
  const heldSince = nowMs - heldMs
  return queries
    .selectFrom('openProblems')
    .selectAll()
    .where((e) => e.or([e('told', '=', 0), e('endedAt', 'is not', null)]))
    .where((e) =>
      e.or([
        e.and([e('told', '=', 0), e('seenAt', '<=', heldSince)]),
        e('endedAt', '<=', heldSince),
      ]),
    )
    .orderBy('seenAt')
    .limit(rowsAtOnce)
    .execute()
}

/** One event per object. */
function composeProblemEvents(due: readonly ProblemRow[], nowMs: number): NewEvent[] {
  const byObject = groupBy(due, ({ objectType, objectId }) => `${objectType} ${objectId}`)
  return [...byObject.values()].flatMap((rows) => {
    const [first] = rows
    if (!first) return []
    const shared = rows.filter(({ sharedData }) => sharedData !== null)
    const type = first.objectType as ProblemBearer // only written by the follower
    return [
      {
        type: `problem:${type}` as const,
        organizationId: first.organizationId,
        about: null,
        createdAt: nowMs,
        data: composeData(first, rows, ({ data }) => data),
        sharedData:
          shared.length === 0
            ? null
            : composeData(first, shared, (row) => row.sharedData ?? row.data),
      },
    ]
  })
}

function composeData(
  first: ProblemRow,
  rows: readonly ProblemRow[],
  jsonOf: (row: ProblemRow) => string,
): string {
  const { objectType: type, objectId: id, objectName: name } = first
  const opened = rows.filter(({ endedAt }) => endedAt === null)
  return JSON.stringify({
    object: { type, id, name },
    opened: opened.map((row) => JSON.parse(jsonOf(row)) as Problem), // written by the follower
    closed: rows.filter(({ endedAt }) => endedAt !== null).map(({ code }) => code),
  })
}
