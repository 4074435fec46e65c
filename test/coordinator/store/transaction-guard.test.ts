/** What is refused inside a transaction, in a process with several stores. */
import t from 'tap'
import { TransactionGuard } from '../../../src/coordinator/store/transaction-guard.js'

const refused = /would wait for ever/

void t.test('a nested transaction of another store does not hide the outer one', async (t) => {
  const [store, other] = [new TransactionGuard(), new TransactionGuard()]
  await store.run(() =>
    other.run(async () => {
      t.throws(() => {
        store.check()
      }, refused)
      t.throws(() => {
        other.check()
      }, refused)
      return Promise.resolve()
    }),
  )
  await other.run(async () => {
    t.doesNotThrow(() => {
      store.check()
    }, 'only the other store is held')
    return Promise.resolve()
  })
})

void t.test('work that outlives its transaction is not refused', async (t) => {
  const guard = new TransactionGuard()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  let left: Promise<void> = Promise.resolve()
  await guard.run(() => {
    left = ended.then(() => {
      guard.check()
    })
    return Promise.resolve()
  })
  end()
  await t.resolves(left)
})
