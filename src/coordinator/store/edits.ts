/**
 * Edits: the first transaction of an edit begins with its check and is a decision, so that nothing comes between what was
 * checked and what is changed. The use cases need not know of it, as long as they write in transactions.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Database } from './database.js'
import type { Tables } from './schema.js'
import type { Store, TransactionOptions } from './store.js'

export type Check = (queries: Transaction<Tables>) => Promise<void>

interface Edit {
  readonly check: Check
  /** Committed: what follows is of its own making. */
  isChecked: boolean
}

type Work<T> = (queries: Transaction<Tables>) => Promise<T>

type Begin = <T>(work: Work<T>, options?: TransactionOptions) => Promise<T>

export function addEdits(database: Database): Omit<Store, 'checkWrites'> {
  const edits = new AsyncLocalStorage<Edit>()

  function checked(begin: Begin): Begin {
    return async (work, options) => {
      const edit = edits.getStore()
      if (edit === undefined || edit.isChecked) return begin(work, options)
      const result = await database.decide(async (queries) => {
        await edit.check(queries)
        return work(queries)
      }, options)
      edit.isChecked = true
      return result
    }
  }

  return {
    ...database,
    transaction: checked((work, options) => database.transaction(work, options)),
    decide: checked((work, options) => database.decide(work, options)),
    edit: (check, work) => edits.run({ check, isChecked: false }, work),
  }
}
