/** Waits until an entry has ended, woken by hints and polling every second. */
import { invalidationsEndedSubject } from '../bus/subjects.js'
import { Hint } from '../../runtime/hint.js'
import type { AgentResult } from './invalidation-results.js'
import { findInvalidation } from './invalidation-queries.js'
import type { StateService } from '../service.js'
import { viewInvalidation, type InvalidationView } from './invalidation-view.js'

const withoutHintMs = 1000

/** Results of each agent at that time; empty if the entry was deleted. */
export async function waitForResults(
  service: StateService,
  id: number,
  timeoutMs: number,
): Promise<readonly AgentResult[]> {
  return (await waitForEnd(service, id, timeoutMs))?.results ?? []
}

/** The entry at that time; undefined if it was deleted. */
export async function waitForEnd(
  service: StateService,
  id: number,
  timeoutMs: number,
): Promise<InvalidationView | undefined> {
  const untilMs = performance.now() + timeoutMs
  const hint = new Hint()
  const subscription = service.bus.subscribe(invalidationsEndedSubject, hint.give)
  try {
    for (;;) {
      hint.take()
      const entry = await findInvalidation(service.store.queries, { kind: 'all' }, id)
      if (!entry) return undefined
      const leftMs = untilMs - performance.now()
      if (entry.outcome !== null || leftMs <= 0) return await viewInvalidation(service, entry)
      await hint.wait(Math.min(leftMs, withoutHintMs))
    }
  } finally {
    subscription.close()
  }
}
