/**
 * How a resource says that users edit its objects: what an edit changes, how an object is found and answered, and how the
 * precondition gets into the transaction that changes it.
 */
import type { Actor } from '../../resources/permission.js'
import type { Edit } from '../http/route.js'
import type { StateService } from '../service.js'
import type { Store } from '../store/store.js'

interface Editable<Found> {
  /** Of the answer. Where a PUT takes what is never answered (a password), `updated` is among them. */
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
 * The service for one edit: its first transaction is a decision that begins with `check`, so nothing comes between what was
 * checked and what is changed. `check` is given the service as it is inside of that transaction: it may read, by
 * `store.queries` and `store.recall`. What is written outside of a transaction is not checked.
 */
export function guardEdit(
  service: StateService,
  check: (inside: StateService) => Promise<void>,
): StateService {
  const { store } = service
  // Once it is committed, what follows is of its own making.
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
