/** The batcher, on a virtual clock. */
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { createBatcher, type BatcherOptions } from '../../src/runtime/batcher.js'
import { createVirtualClock } from './virtual-clock.js'

const silent = pino({ level: 'silent' })

function open<Item>(options: Partial<BatcherOptions<Item>> & Pick<BatcherOptions<Item>, 'write'>) {
  const clock = createVirtualClock()
  const common = { log: silent, trouble: 'it cannot be written', waitMs: 100, retryMs: 1000 }
  return { clock, batcher: createBatcher<Item>({ ...common, clock, ...options }) }
}

interface Step {
  readonly waitMs: number
  /** Whether the store is available from then on. */
  readonly isUp: boolean
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ waitMs: fc.nat(400), isUp: fc.boolean() }),
  { maxLength: 30 },
)

void t.test('each item is written once and in order, despite failures', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (given, atOnce) => {
      const written: number[] = []
      let isUp = true
      let writing = 0
      const { clock, batcher } = open<number>({
        atOnce,
        write: async (items) => {
          if (++writing > 1 || items.length > atOnce) throw new Error('two at once, or too many')
          await clock.sleep(30)
          writing -= 1
          if (!isUp) throw new Error('away')
          written.push(...items)
        },
      })
      for (const [index, step] of given.entries()) {
        isUp = step.isUp
        batcher.add(index)
        await clock.pass(step.waitMs)
      }
      isUp = true
      await clock.pass(10_000)
      return JSON.stringify(written) === JSON.stringify(given.map((_, index) => index))
    }),
    { numRuns: 200 },
  )
})

void t.test('items added together share a write; an urgent one hastens the rest', async (t) => {
  const writes: [number, readonly string[]][] = []
  const { clock, batcher } = open<string>({
    write: (items) => {
      writes.push([clock.nowMs(), items])
      return Promise.resolve()
    },
  })
  batcher.add('a')
  await clock.pass(50)
  batcher.add('b')
  await clock.pass(50)
  batcher.add('c')
  await clock.pass(10)
  batcher.add('d', 5)
  await clock.pass(1000)
  t.same(writes, [
    [100, ['a', 'b']],
    [115, ['c', 'd']],
  ])
})

void t.test('of each key only the newest item is written, also after a failure', async (t) => {
  const writes: (readonly { id: number; value: string }[])[] = []
  let isUp = false
  const { clock, batcher } = open<{ id: number; value: string }>({
    keyOf: ({ id }) => id,
    join: (earlier, later) => ({ ...later, value: `${earlier.value}${later.value}` }),
    write: async (items) => {
      await clock.sleep(10)
      if (!isUp) throw new Error('away')
      writes.push(items)
    },
  })
  batcher.add({ id: 1, value: 'a' })
  batcher.add({ id: 2, value: 'x' })
  await clock.pass(105)
  batcher.add({ id: 1, value: 'b' })
  await clock.pass(10)
  t.ok(batcher.isWaiting(1))
  isUp = true
  await clock.pass(2000)
  t.same(writes, [
    [
      { id: 1, value: 'ab' },
      { id: 2, value: 'x' },
    ],
  ])
  t.notOk(batcher.isWaiting(1))
})

void t.test('the queue is bounded: the oldest items are dropped and logged', async (t) => {
  const logged: unknown[] = []
  const log = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line)) })
  let isUp = false
  const written: number[] = []
  const { clock, batcher } = open<number>({
    log,
    maxWaiting: 3,
    write: (items) => {
      if (!isUp) return Promise.reject(new Error('away'))
      written.push(...items)
      return Promise.resolve()
    },
  })
  for (let item = 0; item < 5; item++) {
    batcher.add(item)
    await clock.pass(150)
  }
  isUp = true
  await clock.pass(2000)
  t.same(written, [2, 3, 4])
  t.match(logged, [
    { msg: 'it cannot be written' },
    { dropped: 2, msg: 'it cannot be written: the oldest were dropped meanwhile' },
  ])
})

void t.test('closing writes the queue once, and later items are ignored', async (t) => {
  let writes = 0
  const { clock, batcher } = open<number>({
    write: () => {
      writes += 1
      return Promise.reject(new Error('away'))
    },
  })
  batcher.add(1)
  await batcher.close()
  batcher.add(2)
  await clock.pass(5000)
  t.same([writes, clock.waiting, batcher.isWaiting(2)], [1, 0, false])
})
