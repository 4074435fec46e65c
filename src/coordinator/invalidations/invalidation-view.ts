/** Views of invalidations for callers: state, "n of m", and the result of each agent. */
import { groupBy } from '../../group-by.js'
import {
  listResults,
  sortBySlowness,
  summarize,
  summarizeShared,
  type AgentResult,
  type EntryProgress,
  type InvalidationSummary,
  type MemberProgress,
} from './invalidation-results.js'
import { invalidationStateName } from './invalidation.js'
import { maxListedResults } from '../../resources/invalidation.js'
import { stateFields, valuesOfState } from '../api/list-objects.js'
import { findInvalidationProblems } from '../problems/find-invalidation-problems.js'
import { toProblems } from '../problems/make-problem.js'
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import {
  invalidationColumns,
  selectInvalidations,
  progressColumns,
  toInvalidation,
  toProgress,
  type InvalidationRecord,
  type ProgressRow,
} from './invalidation-queries.js'
import { readMembersProgress } from './target-queries.js'
import { readList, readListed } from '../store/list-query.js'
import type { Queries } from '../store/store.js'
import {
  splitQuery,
  takeComputed,
  type ListAnswer,
  type ListParameters,
  type SplitQuery,
} from '../store/computed-list.js'
import { readByIds, type LongListAnswer } from '../store/long-list.js'
import { scopeOf, type StateService } from '../service.js'

export interface InvalidationView {
  readonly entry: InvalidationRecord
  readonly summary: InvalidationSummary
  /** Keyed by agent. */
  readonly results: readonly AgentResult[]
}

const fields = { ...invalidationColumns, ...stateFields } as const

export const invalidationListFields = Object.keys(fields)

export async function viewInvalidation(
  service: StateService,
  entry: InvalidationRecord,
): Promise<InvalidationView> {
  const { queries } = service.store
  const rows = await readMembersProgress(queries, [...new Set([entry.setId, entry.attemptSetId])])
  const bySet = groupBy(rows, ({ setId }) => setId)
  const attempted = bySet.get(entry.attemptSetId) ?? []
  return viewEntry(
    entry,
    bySet.get(entry.setId) ?? [],
    new Set(attempted.map(({ agentId }) => agentId)),
  )
}

export function viewEntry(
  entry: InvalidationRecord,
  members: readonly MemberProgress[],
  attempted: ReadonlySet<number>,
): InvalidationView {
  const results = listResults(entry, members, attempted)
  return { entry, results, summary: summarize(entry, members, results) }
}

/** Includes the result of each agent if there are few. */
export type ListedInvalidation = Omit<InvalidationView, 'results'> &
  Partial<Pick<InvalidationView, 'results'>> & { readonly id: number }

type EntryInSets = EntryProgress & { readonly setId: number; readonly attemptSetId: number }

export async function listInvalidations(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<ListedInvalidation>> {
  const { queries } = service.store
  const list = parseListQuery(query, fields, 'invalidation')
  const split = splitQuery(list, (field) => field in stateFields)
  const entries = selectInvalidations(queries, scopeOf(actor))
  const progress = entries.clearSelect().select(progressColumns)
  const found = await readList(progress, split.stored, invalidationColumns)
  const chosen = split.computed === null ? found : await takeByState(queries, split, found)
  const ids: number[] = []
  for await (const { id } of chosen.rows) ids.push(id)
  const rows = await readByIds(ids, async (piece) =>
    summarizeAll(
      queries,
      (await readListed(entries, piece, invalidationColumns)).map(toInvalidation),
      toListedWithResults,
    ),
  )
  return { rows, total: chosen.total }
}

/** By id, for any owner. */
export async function readListedInvalidations(
  queries: Queries,
  ids: readonly number[],
): Promise<ListedInvalidation[]> {
  const rows = await selectInvalidations(queries, { kind: 'all' })
    .where('invalidations.id', 'in', [...ids])
    .orderBy('invalidations.id')
    .execute()
  return summarizeAll(queries, rows.map(toInvalidation), toListed)
}

function toListed(entry: InvalidationRecord, summary: InvalidationSummary): ListedInvalidation {
  return { id: entry.id, entry, summary }
}

function toListedWithResults(
  entry: InvalidationRecord,
  summary: InvalidationSummary,
  { members, attemptedIds }: EntrySets,
): ListedInvalidation {
  if (members.length > maxListedResults) return toListed(entry, summary)
  return { id: entry.id, ...viewEntry(entry, members, attemptedIds) }
}

async function takeByState(
  queries: Queries,
  split: SplitQuery,
  { rows, total }: ListAnswer<ProgressRow>,
): Promise<LongListAnswer<{ readonly id: number }>> {
  const entries = rows.map(toProgress)
  const states = await summarizeAll(queries, entries, (entry, summary) => {
    const findings = findInvalidationProblems(entry, summary)
    return {
      id: entry.id,
      state: summary.state,
      stateName: invalidationStateName(summary.state),
      problems: toProblems(findings, () => entry.updatedAt),
    }
  })
  return takeComputed(split, { rows: states, total }, valuesOfState)
}

interface EntrySets {
  readonly members: readonly MemberProgress[]
  readonly attemptedIds: ReadonlySet<number>
}

async function summarizeAll<Entry extends EntryInSets, Row>(
  queries: Queries,
  entries: readonly Entry[],
  toRow: (entry: Entry, summary: InvalidationSummary, sets: EntrySets) => Row,
): Promise<Row[]> {
  const setIds = new Set(entries.flatMap(({ setId, attemptSetId }) => [setId, attemptSetId]))
  const sets = groupBy(await readMembersProgress(queries, [...setIds]), ({ setId }) => setId)
  const idsOf = new Map(
    [...sets].map(([setId, members]) => [setId, new Set(members.map(({ agentId }) => agentId))]),
  )
  const slowest = new Map([...sets].map(([setId, members]) => [setId, sortBySlowness(members)]))
  return entries.map((entry) =>
    toRow(
      entry,
      summarizeShared(entry, {
        memberIds: idsOf.get(entry.setId) ?? new Set(),
        slowestFirst: slowest.get(entry.attemptSetId) ?? [],
      }),
      {
        members: sets.get(entry.setId) ?? [],
        attemptedIds: idsOf.get(entry.attemptSetId) ?? new Set(),
      },
    ),
  )
}
