/**
 * Prevents self-deadlocks: inside a transaction only the queries that its work was given may be used.
 * The transaction holds SQLite's one connection, or PostgreSQL's decision lock. Without this check both hang.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface Transaction {
  readonly guard: TransactionGuard
  /** The transaction of another store in whose work it began. */
  readonly outer: Transaction | undefined
  open: boolean
}

/** One for all stores: Node 20 visits every such storage for each new promise, for the lifetime of the process. */
const inside = new AsyncLocalStorage<Transaction>()

export class TransactionGuard {
  /** Runs the work of a transaction. Calls that it started but did not await are allowed again once the work has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const transaction: Transaction = { guard: this, outer: inside.getStore(), open: true }
    try {
      return await inside.run(transaction, work)
    } finally {
      transaction.open = false
    }
  }

  /** Called before a connection is taken. Throws a plain Error, because it indicates a bug. */
  check(): void {
    for (let at = inside.getStore(); at !== undefined; at = at.outer)
      if (at.guard === this && at.open)
        throw new Error(
          'a query of the store, or a second transaction, inside a transaction would wait for ever: ' +
            'use the queries that the work was given',
        )
  }
}
