/**
 * Refuses what would wait for itself: inside a transaction only the queries that its work was given may be used.
 * SQLite's one connection is held by the transaction; on PostgreSQL the decision lock is. Without this both hang.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export class TransactionGuard {
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>()

  /** Runs the work of a transaction; what it starts and does not await is free again when the work has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const transaction = { open: true }
    try {
      return await this.#inside.run(transaction, work)
    } finally {
      transaction.open = false
    }
  }

  /** Called before a connection is taken. Throws a bug's error, not a caller's. */
  check(): void {
    if (this.#inside.getStore()?.open === true)
      throw new Error(
        'a query of the store, or a second transaction, inside a transaction would wait for ever: ' +
          'use the queries that the work was given',
      )
  }
}
