/** Tests with a real write whether the store is writable: a full disk or a read-only server still answers queries. */
import type { Database } from './database.js'

/** Each test is a commit that waits for the disk; more frequent calls get the last result. */
const tryEveryMs = 3_000
/** A row in `leases`; no task has this name. */
const row = 'write-check'

/** Rejects while the store is not writable. No second test starts while one is running. */
export function createWriteCheck(
  database: Pick<Database, 'transaction' | 'checkRoom'>,
): () => Promise<void> {
  let triedAtMs = -Infinity
  let running = false
  let last: Promise<void> = Promise.resolve()
  return () => {
    if (!running && performance.now() - triedAtMs >= tryEveryMs) {
      triedAtMs = performance.now()
      running = true
      last = tryWriting(database).finally(() => {
        running = false
      })
      // Prevents an unhandled rejection if there is no further call.
      last.catch(() => undefined)
    }
    return last
  }
}

async function tryWriting({
  transaction,
  checkRoom,
}: Pick<Database, 'transaction' | 'checkRoom'>): Promise<void> {
  await checkRoom()
  await transaction(async (queries) => {
    const expiresAt = Date.now()
    await queries
      .insertInto('leases')
      .values({ name: row, holder: '', epoch: 1, expiresAt })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ expiresAt }))
      .execute()
  })
}
