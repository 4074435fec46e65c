/** Bounded caches. */
import fc from 'fast-check'
import t from 'tap'
import {
  createBoundedCache,
  createReadCache,
  rememberAnswers,
  rememberOf,
} from '../../src/runtime/bounded-cache.js'

void t.test('the least recently used key is evicted first', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ key: fc.nat(9), isRead: fc.boolean() }), { maxLength: 50 }),
      fc.integer({ min: 1, max: 6 }),
      (uses, most) => {
        const cache = createBoundedCache<number, number>(most)
        let expected: number[] = []
        for (const { key, isRead } of uses) {
          const isKnown = expected.includes(key)
          if (isRead && (cache.get(key) === key) !== isKnown) return false
          if (!isRead) cache.set(key, key)
          if (!isRead || isKnown)
            expected = [...expected.filter((one) => one !== key), key].slice(-most)
        }
        return cache.size === expected.length && expected.every((key) => cache.get(key) === key)
      },
    ),
  )
  t.end()
})

void t.test('an answer is computed once while there is room for it', (t) => {
  let count = 0
  const double = rememberAnswers(2, (of: number) => `${++count}: ${2 * of}`)
  t.same([double(1), double(2), double(1)], ['1: 2', '2: 4', '1: 2'])
  t.same([double(3), double(1), double(2)], ['3: 6', '1: 2', '4: 4'])
  t.end()
})

void t.test('a reading is shared for a while, but not beyond its own expiry', async (t) => {
  let nowMs = 0
  let count = 0
  const cache = createReadCache<{ readonly count: number; readonly untilMs: number }>({
    most: 10,
    believedMs: 100,
    now: () => nowMs,
    expiresAt: ({ untilMs }) => untilMs,
  })
  const read = (key: string, untilMs = Infinity) =>
    cache.read(key, () => Promise.resolve({ count: ++count, untilMs })).then((one) => one.count)
  t.same(await Promise.all([read('a'), read('a'), read('b', 50)]), [1, 1, 2])
  nowMs = 60
  t.same([await read('a'), await read('b')], [1, 3])
  nowMs = 100
  t.equal(await read('a'), 4)
  cache.clear()
  t.equal(await read('b'), 5)
})

void t.test(
  'failures, undefined values and readings cleared meanwhile are not cached',
  async (t) => {
    const cache = createReadCache<number | undefined>({ most: 10, believedMs: 100, now: () => 0 })
    await t.rejects(
      cache.read('a', () => Promise.reject(new Error('no'))),
      /no/,
    )
    t.equal(await cache.read('a', () => Promise.resolve(undefined)), undefined)
    let answer: (value: number) => void = () => undefined
    const old = cache.read('a', () => new Promise((resolve) => (answer = resolve)))
    cache.clear()
    t.equal(await cache.read('a', () => Promise.resolve(2)), 2)
    answer(1)
    t.equal(await old, 1)
    t.equal(
      await cache.read('a', () => Promise.resolve(3)),
      2,
      'the older reading does not replace the newer one',
    )
  },
)

void t.test('large readings take the room of several', async (t) => {
  const cache = createReadCache<number>({ most: 10, believedMs: 100, now: () => 0 })
  const read = (key: string, value: number, size: number) =>
    cache.read(key, () => Promise.resolve(value), size)
  await read('a', 1, 6)
  await read('b', 2, 6)
  t.equal(await read('b', 3, 6), 2)
  t.equal(await read('a', 4, 6), 4)
  t.equal(await read('c', 5, 11), 5, 'a reading larger than the cache is returned too')
})

void t.test('the function runs once per object', (t) => {
  let asked = 0
  const countCharacters = rememberOf(({ text }: { readonly text: string }) => {
    asked += 1
    return text.length
  })
  const [some, none] = [{ text: 'some' }, { text: '' }]
  t.same([some, none, some, none].map(countCharacters), [4, 0, 4, 0])
  t.equal(asked, 2)
  t.end()
})
