/** Plans the changes of the rows of open problems from the current problems. Pure. */
import type { Insertable, Selectable } from 'kysely'
import type { Problem, ProblemBearer } from '../../resources/problem.js'
import type { Tables } from '../store/schema.js'
import type { JudgedObject } from './find-ill.js'

export type ProblemRow = Readonly<Selectable<Tables['openProblems']>>

export interface RowPlan {
  /** New and changed rows. */
  readonly save: readonly Readonly<Insertable<Tables['openProblems']>>[]
  /** Problems that ended before they were reported. */
  readonly remove: readonly ProblemRow[]
}

/** `known`: the rows of the checked objects; a problem that is not found again has ended. */
export function planRows(
  type: ProblemBearer,
  judged: readonly JudgedObject[],
  known: readonly ProblemRow[],
  nowMs: number,
): RowPlan {
  const before = new Map(known.map((row) => [keyOf(row), row]))
  const found = judged.flatMap((object) =>
    object.problems.map((problem) => toRow(type, object, problem, nowMs)),
  )
  const still = new Set(found.map(keyOf))
  const ended = known.filter((row) => !still.has(keyOf(row)))
  return {
    save: [
      ...found.flatMap((row) => {
        const old = before.get(keyOf(row))
        if (!old) return [row]
        const kept = { ...row, seenAt: old.seenAt, told: old.told }
        return isSame(kept, old) ? [] : [kept]
      }),
      ...ended
        .filter(({ told, endedAt }) => told === 1 && endedAt === null)
        .map((row) => ({
          ...row,
          endedAt: nowMs,
        })),
    ],
    remove: ended.filter(({ told }) => told === 0),
  }
}

function toRow(
  objectType: ProblemBearer,
  { id, name, organizationId, shared }: JudgedObject,
  problem: Problem,
  nowMs: number,
): ProblemRow {
  const { code, severity, since } = problem
  const seen = shared.find((one) => one.code === code)
  return {
    objectType,
    objectId: id,
    code,
    organizationId,
    objectName: name,
    severity,
    since: Date.parse(since),
    data: JSON.stringify(problem),
    sharedData: seen ? JSON.stringify(seen) : null,
    seenAt: nowMs,
    told: 0,
    endedAt: null,
  }
}

function keyOf({ objectId, code }: Pick<ProblemRow, 'objectId' | 'code'>): string {
  return `${objectId} ${code}`
}

function isSame(a: ProblemRow, b: ProblemRow): boolean {
  return Object.entries(a).every(([name, value]) => Reflect.get(b, name) === value)
}
