/** Publishes hints about the invalidation log on the bus. */
import { invalidationsEndedSubject, invalidationsLoggedSubject } from '../bus/subjects.js'
import type { EndedEntry } from './delivery-queries.js'
import type { StateService } from '../service.js'

/** Agents that back off after a fault retry immediately. */
export function notifyInvalidationsRetried(service: StateService): void {
  service.bus.publish(invalidationsLoggedSubject, { dropped: [], isRetry: true })
}

/** Announces new entries, or entries that must not be delivered any more. */
export function notifyInvalidationsLogged(
  service: StateService,
  dropped: readonly number[] = [],
): void {
  service.bus.publish(invalidationsLoggedSubject, { dropped })
}

export function notifyInvalidationsEnded(service: StateService, ids: readonly number[]): void {
  if (ids.length > 0) service.bus.publish(invalidationsEndedSubject, { ids })
}

/** Announces entries whose agents have all answered. Only fully completed entries are measured. */
export function observeInvalidationsDone(service: StateService, done: readonly EndedEntry[]): void {
  notifyInvalidationsEnded(
    service,
    done.map(({ id }) => id),
  )
  for (const { createdAt, hasFailed } of done)
    if (!hasFailed) service.observeInvalidation((service.now() - createdAt) / 1000)
}
