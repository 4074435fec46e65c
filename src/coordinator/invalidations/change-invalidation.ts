/** Cancels, retries and deletes entries of the invalidation log (docs/behaviour.md, Invalidations). */
import { invalidationStates } from '../../resources/invalidation.js'
import { addExceptions, invalidationStateName, isBad } from './invalidation.js'
import { FleetError } from '../../errors.js'
import {
  appendAgain,
  endInvalidation,
  findInvalidation,
  writeExceptions,
  type InvalidationRecord,
} from './invalidation-queries.js'
import { keepSet, readMembersProgress, readSets } from './target-queries.js'
import { deleteRow } from '../store/write-rows.js'
import type { Queries } from '../store/store.js'
import { scopeOf, type StateService } from '../service.js'
import {
  notifyInvalidationsEnded,
  notifyInvalidationsLogged,
  notifyInvalidationsRetried,
} from './invalidation-hints.js'
import { requireInvalidationRoom } from './invalidation-room.js'
import { requireFound } from '../api/list-objects.js'
import type { Actor } from '../../resources/permission.js'

/** Cancels the pending part of an entry; a second cancel changes nothing. Throws 'conflict' if the entry ended by itself. */
export async function cancelInvalidation(
  service: StateService,
  actor: Actor,
  { id }: InvalidationRecord,
): Promise<InvalidationRecord> {
  await service.store.decide(async (queries) => {
    const entry = await readCurrent(queries, id)
    if (entry.outcome === invalidationStates.Cancelled) return
    if (entry.outcome !== null) throw ended(entry, 'nothing is left to be cancelled')
    await endPending(queries, entry, 'cancelled', service.now())
  })
  notifyInvalidationsLogged(service, [id])
  notifyInvalidationsEnded(service, [id])
  return readAgain(service, actor, id)
}

/** Agents that have not completed the entry are no longer waited for. */
export async function endPending(
  queries: Queries,
  entry: InvalidationRecord,
  state: 'expired' | 'cancelled',
  now: number,
): Promise<void> {
  const known = new Set(entry.exceptions.flatMap(({ agents }) => agents))
  const members = await readMembersProgress(queries, [entry.attemptSetId])
  const agents = members
    .filter(({ agentId, position }) => !known.has(agentId) && (position ?? 0) < entry.position)
    .map(({ agentId }) => agentId)
  const added = { state, agents, at: now, error: null }
  const exceptions = addExceptions(entry.exceptions, [added])
  await writeExceptions(queries, entry.id, exceptions)
  const failed = exceptions.some(isBad)
  const { Cancelled, Failed, Completed } = invalidationStates
  const outcome = state === 'cancelled' ? Cancelled : failed ? Failed : Completed
  await endInvalidation(queries, entry.id, outcome, now)
}

/**
 * Retries an entry for the agents that have not completed it: it moves to the end of the log with a new ttl. An open entry is
 * only retried immediately. Throws 'conflict' for a Completed entry, 'limited' if too many entries are open.
 */
export async function retryInvalidation(
  service: StateService,
  actor: Actor,
  { id }: InvalidationRecord,
): Promise<InvalidationRecord> {
  await service.store.decide(async (queries) => {
    const entry = await readCurrent(queries, id)
    if (entry.outcome === invalidationStates.Completed)
      throw ended(entry, 'every agent has done it')
    if (entry.outcome === null) return
    await requireInvalidationRoom(queries, entry.organization?.id ?? null)
    const bad = new Set(entry.exceptions.filter(isBad).flatMap(({ agents }) => agents))
    const members = (await readSets(queries, [entry.setId])).get(entry.setId) ?? []
    const left = members.filter(({ agentId }) => bad.has(agentId))
    const attemptSetId = await keepSet(queries, left)
    const exceptions = entry.exceptions.filter((one) => !isBad(one))
    await appendAgain(queries, entry, { attemptSetId, exceptions }, service.now())
  })
  notifyInvalidationsRetried(service)
  return readAgain(service, actor, id)
}

/** Throws 'conflict' for an open entry. */
export async function deleteInvalidation(
  service: StateService,
  { id }: InvalidationRecord,
): Promise<void> {
  await service.store.decide(async (queries) => {
    const entry = await findInvalidation(queries, { kind: 'all' }, id)
    if (entry?.outcome === null)
      throw new FleetError('conflict', 'invalidation', 'it has not ended; cancel it first')
    await deleteRow(queries, 'invalidations', id)
  })
}

async function readCurrent(queries: Queries, id: number): Promise<InvalidationRecord> {
  return requireFound(await findInvalidation(queries, { kind: 'all' }, id), 'invalidation', id)
}

async function readAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<InvalidationRecord> {
  const found = await findInvalidation(service.store.queries, scopeOf(actor), id)
  return requireFound(found, 'invalidation', id)
}

function ended({ outcome }: InvalidationRecord, why: string): FleetError {
  const name = outcome === null ? 'Running' : invalidationStateName(outcome)
  return new FleetError('conflict', 'invalidation', `it is ${name}: ${why}`)
}
