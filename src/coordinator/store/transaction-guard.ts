/**
 * Refuses what would wait for itself: inside a transaction only the queries that its work was given may be used.
 * SQLite's one connection is held by the transaction; on PostgreSQL the decision lock is. Without this both hang.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface Transaction {
  readonly guard: TransactionGuard
  /** The one of another store inside whose work it began. */
  readonly outer: Transaction | undefined
  open: boolean
}

/** One for all stores: Node 20 walks through every such storage for each promise that is made, as long as the process lives. */
const inside = new AsyncLocalStorage<Transaction>()

export class TransactionGuard {
  /** Runs the work of a transaction; what it starts and does not await is free again when the work has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const transaction: Transaction = { guard: this, outer: inside.getStore(), open: true }
    try {
      return await inside.run(transaction, work)
    } finally {
      transaction.open = false
    }
  }

  /** Called before a connection is taken. Throws a bug's error, not a caller's. */
  check(): void {
    for (let at = inside.getStore(); at !== undefined; at = at.outer)
      if (at.guard === this && at.open)
        throw new Error(
          'a query of the store, or a second transaction, inside a transaction would wait for ever: ' +
            'use the queries that the work was given',
        )
  }
}
