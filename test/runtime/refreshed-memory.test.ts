/** Results of slow lookups are returned from memory while they are refreshed. */
import t from 'tap'
import { createRefreshedMemory } from '../../src/runtime/refreshed-memory.js'

function start() {
  let nowMs = 0
  let found = 0
  const pending: { resolve: () => void; reject: (error: Error) => void }[] = []
  const memory = createRefreshedMemory<number>({
    most: 10,
    freshMs: 10,
    usableMs: 100,
    waitMostMs: 60_000,
    now: () => nowMs,
  })
  return {
    pending,
    advance: (ms: number) => (nowMs += ms),
    read: () =>
      memory.read(
        'key',
        () =>
          new Promise((resolve, reject) => {
            found += 1
            const value = found
            pending.push({
              resolve: () => {
                resolve(value)
              },
              reject,
            })
          }),
      ),
  }
}

void t.test('the first callers share one lookup; later ones get the known value', async (t) => {
  const { read, pending, advance } = start()
  const first = Promise.all([read(), read()])
  t.equal(pending.length, 1)
  pending[0]?.resolve()
  t.same(await first, [1, 1])

  advance(9)
  t.equal(await read(), 1)
  t.equal(pending.length, 1, 'still fresh')
  advance(1)
  t.equal(await read(), 1, 'during the refresh')
  t.equal(await read(), 1)
  t.equal(pending.length, 2)
  pending[1]?.resolve()
  await Promise.resolve()
  t.equal(await read(), 2)
})

void t.test('a failed lookup is retried, and reported once no usable value is known', async (t) => {
  const { read, pending, advance } = start()
  const first = read()
  pending[0]?.resolve()
  await first
  advance(50)
  t.equal(await read(), 1)
  pending[1]?.reject(new Error('away'))
  await new Promise((resume) => setImmediate(resume))
  t.equal(await read(), 1, 'again')
  pending[2]?.reject(new Error('away'))
  await new Promise((resume) => setImmediate(resume))
  advance(50)
  const late = read()
  pending[3]?.reject(new Error('still away'))
  await t.rejects(late, { message: 'still away' })
})

void t.test('a caller waits for a limited time; a late result is kept', async (t) => {
  let resolve: (value: string) => void = () => undefined
  const given: (string | undefined)[] = []
  const memory = createRefreshedMemory<string>({
    most: 10,
    freshMs: 0,
    usableMs: 100,
    waitMostMs: 1,
    now: () => 0,
  })
  const read = () =>
    memory.read('key', (known) => {
      given.push(known)
      return new Promise((done) => (resolve = done))
    })
  t.equal(await read(), undefined)
  resolve('late')
  await new Promise((resume) => setImmediate(resume))
  t.equal(await read(), 'late')
  t.same(given, [undefined, 'late'], 'a refresh gets the known value')
})
