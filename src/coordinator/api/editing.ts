/**
 * How a resource defines the edits of its objects: which keys an edit changes, how an object is found and viewed, and how the
 * precondition is checked inside the transaction that changes it.
 */
import type { Actor } from '../../resources/permission.js'
import type { Edit } from '../http/route.js'
import type { StateService } from '../service.js'
import type { Store } from '../store/store.js'

interface Editable<Found> {
  /** Keys of the response. If a PUT accepts something that is never returned (a password), `updated` is among them. */
  readonly keys: readonly string[]
  readonly longKey?: string
  readonly find: (service: StateService, actor: Actor, id: number) => Promise<Found | undefined>
  readonly view: (object: Found) => object
}

export function editing<Found>(
  service: StateService,
  { find, ...about }: Editable<Found>,
): Edit<Found, StateService> {
  return {
    ...about,
    unguarded: service,
    guard: (actor, id, requireSame) =>
      guardEdit(service, async (inside) => {
        requireSame(await find(inside, actor, id))
      }),
  }
}

/**
 * Returns the service for one edit: its first transaction is a decision that begins with `check`, so that nothing changes
 * between the check and the edit. `check` receives the service inside that transaction and may read with `store.queries` and
 * `store.recall`. Writes outside a transaction are not checked.
 */
export function guardEdit(
  service: StateService,
  check: (inside: StateService) => Promise<void>,
): StateService {
  const { store } = service
  // After the first commit, later changes are the edit's own.
  let isChecked = false
  const checked = (begin: Store['decide']): Store['decide'] =>
    async function checkFirst(work, options) {
      if (isChecked) return begin(work, options)
      const result = await store.decide(async (queries) => {
        await check({ ...service, store: { ...store, queries, recall: readAlways } })
        return work(queries)
      }, options)
      isChecked = true
      return result
    }
  const transaction = checked((work, options) => store.transaction(work, options))
  const decide = checked((work, options) => store.decide(work, options))
  return { ...service, store: { ...store, transaction, decide } }
}

function readAlways<T>(_reading: unknown, read: () => Promise<T>): Promise<T> {
  return read()
}
