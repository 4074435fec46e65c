/** Entries of the invalidation log as callers see them: with their state, "n of m", and the result of each agent. */
import { groupBy } from '../../../domain/group-by.js'
import {
  listResults,
  summarize,
  summarizeEnded,
  type AgentResult,
  type InvalidationSummary,
  type MemberProgress,
} from '../../../domain/invalidation-results.js'
import { invalidationStateName } from '../../../domain/invalidation.js'
import { parseListQuery } from '../../../domain/list-query.js'
import type { Actor } from '../../../domain/permission.js'
import {
  findInvalidation as findInvalidationRow,
  invalidationColumns,
  selectInvalidations,
  toInvalidation,
  type InvalidationRecord,
} from '../../../store/invalidations.js'
import { readMembersProgress } from '../../../store/invalidation-targets.js'
import { readList } from '../../../store/list-query.js'
import type { Queries } from '../../../store/store.js'
import {
  splitQuery,
  takeComputed,
  type ListAnswer,
  type ListParameters,
} from '../objects/computed-list.js'
import { scopeOf, type StateService } from '../service.js'

export type { InvalidationRecord } from '../../../store/invalidations.js'

export interface InvalidationView {
  readonly entry: InvalidationRecord
  readonly summary: InvalidationSummary
  /** By agent. */
  readonly results: readonly AgentResult[]
}

const computedFields = { state: { type: 'number' }, stateName: { type: 'text' } } as const
const fields = { ...invalidationColumns, ...computedFields } as const

export const invalidationListFields = Object.keys(fields)

export async function findInvalidation(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<InvalidationRecord | undefined> {
  return findInvalidationRow(service.store.queries, scopeOf(actor), id)
}

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

export type ListedInvalidation = Omit<InvalidationView, 'results'>

export async function listInvalidations(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<ListAnswer<ListedInvalidation>> {
  const { queries } = service.store
  const list = parseListQuery(query, fields, 'invalidation')
  const split = splitQuery(list, (field) => field in computedFields)
  const found = await readList(
    selectInvalidations(queries, scopeOf(actor)),
    split.stored,
    invalidationColumns,
  )
  const rows = await summarizeAll(queries, found.rows.map(toInvalidation))
  return takeComputed(split, { rows, total: found.total }, ({ summary: { state } }, field) =>
    field === 'state' ? state : invalidationStateName(state),
  )
}

async function summarizeAll(
  queries: Queries,
  entries: readonly InvalidationRecord[],
): Promise<ListedInvalidation[]> {
  const setIds = new Set(entries.flatMap(({ setId, attemptSetId }) => [setId, attemptSetId]))
  const sets = groupBy(await readMembersProgress(queries, [...setIds]), ({ setId }) => setId)
  const idsOf = new Map(
    [...sets].map(([setId, members]) => [setId, new Set(members.map(({ agentId }) => agentId))]),
  )
  const none: ReadonlySet<number> = new Set()
  return entries.map((entry) => {
    const { setId, attemptSetId, outcome } = entry
    if (outcome !== null) return { entry, summary: summarizeEnded(entry, idsOf.get(setId) ?? none) }
    const attempted = idsOf.get(attemptSetId) ?? none
    return { entry, summary: viewEntry(entry, sets.get(setId) ?? [], attempted).summary }
  })
}
