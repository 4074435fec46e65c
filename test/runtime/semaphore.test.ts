/** Semaphore, pauses, back-off and hints. */
import fc from 'fast-check'
import { setImmediate as settled } from 'node:timers/promises'
import t from 'tap'
import { pauseAfter, pickBetween } from '../../src/runtime/backoff.js'
import { Hint } from '../../src/runtime/hint.js'
import { pauseFor, waitAtMost } from '../../src/runtime/pause.js'
import { retryForever } from '../../src/runtime/retry.js'
import { Semaphore } from '../../src/runtime/semaphore.js'

const forLong = 600_000

void t.test('no more tasks run than there are permits, in the order of requests', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 }),
      async (places, durations) => {
        const semaphore = new Semaphore({ permits: places })
        const begun: number[] = []
        let running = 0
        let most = 0
        await Promise.allSettled(
          durations.map((ticks, index) =>
            semaphore.run(async () => {
              begun.push(index)
              most = Math.max(most, ++running)
              for (let tick = 0; tick < ticks; tick++) await settled()
              running -= 1
              if (ticks === 2) throw new Error('work may fail')
            }),
          ),
        )
        return (
          most === Math.min(places, durations.length) &&
          begun.every((index, place) => index === place) &&
          semaphore.isIdle
        )
      },
    ),
    { numRuns: 100 },
  )
})

void t.test('a caller that timed out holds no permit', async (t) => {
  const semaphore = new Semaphore()
  await semaphore.acquire()
  t.notOk(await semaphore.acquireWithin(1))
  const next = semaphore.acquireWithin(forLong)
  semaphore.release()
  t.ok(await next, 'the permit goes to the caller still waiting')
  semaphore.release()
  t.ok(semaphore.isIdle)
})

void t.test('a caller is refused when too many wait', async (t) => {
  const semaphore = new Semaphore({ maxWaiting: 1, refuse: () => new Error('too many') })
  await semaphore.acquire()
  const waiting = semaphore.acquire()
  await t.rejects(semaphore.acquire(), { message: 'too many' })
  semaphore.release()
  await waiting
})

void t.test('pauses double from the first up to the longest', (t) => {
  fc.assert(
    fc.property(fc.nat(5000), fc.integer({ min: 1, max: 1000 }), fc.nat(1e6), (failures, a, b) => {
      const range = { firstMs: a, longestMs: a + b }
      const pauseMs = pauseAfter(failures, range)
      const next = pauseAfter(failures + 1, range)
      if (pauseMs < a || pauseMs > a + b || next < pauseMs) return false
      return failures === 0 ? next === a : next === Math.min(2 * pauseMs, a + b)
    }),
  )
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), (least, more) => {
      const picked = pickBetween(least, least + more)
      return picked >= least && picked <= least + more
    }),
  )
  t.end()
})

void t.test('a pause ends with its signal, and leaves no listener', async (t) => {
  const ending = new AbortController()
  const pause = pauseFor(forLong, ending.signal)
  ending.abort()
  await pause
  await pauseFor(forLong, ending.signal)
  await pauseFor(0)
  t.pass()
})

void t.test('the wait for work is limited', async (t) => {
  t.equal(await waitAtMost(forLong, Promise.resolve(1), () => 2), 1)
  await t.rejects(
    waitAtMost(forLong, Promise.reject(new Error('broke')), () => 2),
    /broke/,
  )
  let isLate = false
  const never = new Promise<never>(() => undefined)
  t.equal(await waitAtMost(1, never, () => (isLate = true)), true)
  t.ok(isLate)
  const late = (): never => {
    throw new Error('late')
  }
  await t.rejects(waitAtMost(1, never, late), /late/)
  t.equal(await waitAtMost(forLong, Promise.resolve(1), late), 1, 'the fallback is not called')
})

void t.test('an attempt is retried after any error until it succeeds or is aborted', async (t) => {
  const pauses: number[] = []
  const pauseMs = (failures: number): number => {
    pauses.push(failures)
    return 0
  }
  let attempts = 0
  const attempt = (): Promise<string> => {
    attempts += 1
    if (attempts < 4) throw new TypeError('a bug is not a reason to stop')
    return Promise.resolve('done')
  }
  const ending = new AbortController()
  t.equal(await retryForever(attempt, { pauseMs, signal: ending.signal }), 'done')
  t.same(pauses, [1, 2, 3])
  const inVain = retryForever(() => Promise.reject(new Error('no')), {
    pauseMs: () => forLong,
    signal: ending.signal,
  })
  await settled()
  ending.abort()
  await t.rejects(inVain)
})

void t.test('a hint given without a waiter is kept until it is taken', async (t) => {
  const hint = new Hint()
  hint.give()
  await hint.wait(forLong)
  hint.take()
  let isWoken = false
  const waiting = hint.wait(forLong).then(() => (isWoken = true))
  await settled()
  t.notOk(isWoken)
  hint.give()
  await waiting
  hint.take()
  await hint.wait(1)
  t.pass('or time is over')
})
