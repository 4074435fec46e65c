/** Edits of objects: what an editor saw is compared with the object inside the transaction that changes it. */
import type { StateService } from '../service.js'

/** `find` is given the service as it is inside of the transaction: it may read, by `store.queries` and `store.recall`. */
export function runEdit<Found, T>(
  service: StateService,
  find: (inside: StateService) => Promise<Found>,
  requireSame: (found: Found) => void,
  work: () => Promise<T>,
): Promise<T> {
  const { store } = service
  return store.edit(async (queries) => {
    const inside = { ...service, store: { ...store, queries, recall: readAlways } }
    requireSame(await find(inside))
  }, work)
}

function readAlways<T>(_reading: unknown, read: () => Promise<T>): Promise<T> {
  return read()
}
