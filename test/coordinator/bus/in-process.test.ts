import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { uncheckedSubject } from '../../../src/coordinator/bus/bus.js'
import { createInProcessBus } from '../../../src/coordinator/bus/in-process.js'
import { busContract } from './bus.contract.js'

busContract(t, {
  open: (t) => {
    const bus = createInProcessBus()
    t.teardown(() => bus.close())
    return Promise.resolve({ here: bus, there: bus })
  },
})

void t.test('throws for a second responder of a subject, which is a bug', async (t) => {
  const bus = createInProcessBus()
  bus.respond(uncheckedSubject('one'), () => Promise.resolve(1))

  t.throws(
    () => bus.respond(uncheckedSubject('one'), () => Promise.resolve(2)),
    /has a responder of one already/,
  )
  await bus.close()
})

void t.test('an answer that cannot be cloned fails its request', async (t) => {
  const bus = createInProcessBus()
  bus.respond(uncheckedSubject('function'), () => Promise.resolve(() => 1))

  await t.rejects(bus.request(uncheckedSubject('function'), {}, 20_000), { name: 'DataCloneError' })
  await bus.close()
})

void t.test('receivers run in the async context of the subscriber, not the sender', async (t) => {
  const bus = createInProcessBus()
  const inside = new AsyncLocalStorage<string>()
  const answered = new Promise((resolve) => {
    bus.subscribe(uncheckedSubject('where'), () => {
      resolve(inside.getStore() ?? 'outside')
    })
  })
  bus.respond(uncheckedSubject('where'), () => Promise.resolve(inside.getStore() ?? 'outside'))

  const asked = await inside.run('sender', () => {
    bus.publish(uncheckedSubject('where'), null)
    return bus.request(uncheckedSubject('where'), null, 20_000)
  })

  t.strictSame([asked, await answered], ['outside', 'outside'])
  await bus.close()
})
