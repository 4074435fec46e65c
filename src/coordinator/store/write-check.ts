/** Whether the store can be written, tried and not guessed: a full disk or a server that only reads still answers what it is asked. */
import type { Database } from './database.js'

/** Each try is a commit that waits for the disk; whoever asks more often gets the last result. */
const tryEveryMs = 3_000
/** In `leases`, where no task has this name. */
const row = 'write-check'

/** Rejects while nothing can be written. A try that does not end is not joined by another one. */
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
      // Also when nobody asks again.
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
