/**
 * Records changes of all coordinators as events, serialized by the lock of the event counter. Hints trigger it; polling finds
 * changes without a hint.
 */
import type { Logger } from 'pino'
import {
  agentChangedSubject,
  changesSubject,
  desiredChangedSubject,
  eventsSubject,
  invalidationsEndedSubject,
  placementInputsSubject,
} from '../bus/subjects.js'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { FleetError } from '../../errors.js'
import { hasChanges, takeChanges } from './changes.js'
import { deleteOldEvents, insertEvents, lockEventCounter } from './event-queries.js'
import { findChecks, noteChecks } from '../problems/problem-checks.js'
import type { StateService } from '../service.js'
import { composeEvents, type EventViews } from './compose-events.js'
import type { Pass } from '../../runtime/loop.js'
import { pauseFor } from '../../runtime/pause.js'

/** How long a change waits for related ones, so that several changes of an agent become one event. */
const gatherMs = 20
/** The delay of an event whose hint was lost. */
const pollEveryMs = 500
/** Changes per transaction, a few milliseconds of work. */
const changesAtOnce = 200
/**
 * Recording takes at most a ninth of the time, so that it does not delay the writes it records. Repeated changes
 * of one object meanwhile make one event.
 */
const restsPerBatch = 8
const longestRestMs = 200

/** docs/behaviour.md, Events: events are kept 1 hour. */
export const keptMs = 3600 * 1000
/** About 150 MB; a deploy to 10,000 agents makes 40,000 events. */
const maxKept = 100_000
const cleanEveryMs = 60_000
const deletedAtOnce = 1000

/** Changes that are left at close are recorded by other coordinators or after the next start. */
export function startEventRecorder(
  service: StateService,
  log: Logger,
  views: EventViews,
): HintedLoop {
  const { store, bus, now } = service
  let cleanedAt = 0
  return startHintedLoop(bus, {
    hints: [
      ...[changesSubject, agentChangedSubject, desiredChangedSubject, placementInputsSubject],
      invalidationsEndedSubject,
    ],
    gatherMs,
    log,
    trouble: 'events cannot be written',
    everyMs: pollEveryMs,
    firstMs: gatherMs,
    pass: record,
  })

  async function record({ signal }: Pass): Promise<void> {
    try {
      while (!signal.aborted && (await hasChanges(store.queries))) {
        const startedAt = performance.now()
        if (await recordSome(service, views)) bus.publish(eventsSubject, {})
        const tookMs = performance.now() - startedAt
        await pauseFor(Math.min(restsPerBatch * tookMs, longestRestMs), signal)
      }
      if (now() - cleanedAt >= cleanEveryMs) {
        cleanedAt = now()
        await removeOldEvents(service)
      }
    } catch (error) {
      // A change that cannot be recorded because of a bug would block all later ones forever.
      if (!(error instanceof FleetError)) await forgetSome(service).catch(() => undefined)
      throw error
    }
  }
}

async function forgetSome({ store }: StateService): Promise<void> {
  await store.transaction(async (queries) => {
    await lockEventCounter(queries)
    await takeChanges(queries, changesAtOnce)
  })
}

/** On disk before it is sent, so that a published id is never reused. Returns true if there is a new event. */
async function recordSome({ store, now }: StateService, views: EventViews): Promise<boolean> {
  return store.transaction(async (queries) => {
    const last = await lockEventCounter(queries)
    const changes = await takeChanges(queries, changesAtOnce)
    const createdAt = now()
    const events = (await composeEvents(queries, changes, views)).map((event) => ({
      ...event,
      createdAt,
    }))
    await insertEvents(queries, last, events)
    await noteChecks(queries, findChecks(changes))
    return events.length > 0
  })
}

/** In small steps, and only from the old end. */
async function removeOldEvents({ store, now }: StateService): Promise<void> {
  const old = { createdBefore: now() - keptMs, kept: maxKept, limit: deletedAtOnce }
  let deleted = deletedAtOnce
  while (deleted === deletedAtOnce)
    deleted = await store.transaction(async (queries) => {
      await lockEventCounter(queries)
      return deleteOldEvents(queries, old)
    })
}
