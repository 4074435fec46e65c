/** The periodic loop, on a virtual clock. */
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { startLoop, type LoopOptions } from '../../src/runtime/loop.js'
import { createVirtualClock } from './virtual-clock.js'

const silent = pino({ level: 'silent' })

function open(options: Partial<LoopOptions> & Pick<LoopOptions, 'pass'>) {
  const clock = createVirtualClock()
  const loop = startLoop({ log: silent, trouble: 'it failed', everyMs: 100, clock, ...options })
  return { clock, loop }
}

interface Step {
  readonly atMs: number
  /** Null: `runNow`. */
  readonly withinMs: number | null
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    atMs: fc.nat(1000),
    withinMs: fc.oneof(fc.nat(300), fc.constant(null)),
  }),
  { maxLength: 12 },
)

void t.test('passes never overlap, and each wake is followed by a pass in time', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.array(fc.nat(250), { minLength: 1 }), async (given, tookMs) => {
      const begun: number[] = []
      const ended: number[] = []
      const { clock, loop } = open({
        pass: async () => {
          if (begun.length !== ended.length) throw new Error('two at once')
          begun.push(clock.nowMs())
          await clock.sleep(tookMs[begun.length % tookMs.length] ?? 0)
          ended.push(clock.nowMs())
        },
      })
      for (const { atMs, withinMs } of given.toSorted((a, b) => a.atMs - b.atMs)) {
        await clock.pass(atMs - clock.nowMs())
        if (withinMs === null) void loop.runNow()
        else loop.wake(withinMs)
      }
      await clock.pass(2000)
      for (const [index, at] of begun.entries())
        if (index > 0 && at < (ended[index - 1] ?? 0)) return false
      return given.every(({ atMs, withinMs }) => {
        // A running pass has to end first.
        const freeAt = ended.find((end, index) => (begun[index] ?? 0) <= atMs && end > atMs) ?? atMs
        const due = freeAt + (withinMs ?? 0)
        return begun.some((at) => at >= atMs && at <= due)
      })
    }),
    { numRuns: 200 },
  )
})

void t.test('runNow waits for a pass that begins afterwards', async (t) => {
  const begun: number[] = []
  const { clock, loop } = open({
    pass: async () => {
      begun.push(clock.nowMs())
      await clock.sleep(50)
    },
  })
  await clock.pass(110)
  let done = 0
  void Promise.all([loop.runNow(), loop.runNow()]).then(() => (done = clock.nowMs()))
  await clock.pass(200)
  t.same([begun, done], [[100, 150, 300], 200], 'both calls share the next pass')
})

void t.test('a failed pass is logged once with its trace id, and the loop goes on', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'debug', base: null, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  let passes = 0
  const { clock, loop } = open({
    log,
    pass: () => {
      passes += 1
      if (passes !== 3) throw new Error('not now')
    },
  })
  await clock.pass(450)
  await loop.close()
  t.equal(passes, 4)
  t.same(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['error', 'it failed'],
      ['debug', 'it failed'],
      ['error', 'it failed'],
    ],
    'as an error at first, and again after a success',
  )
  t.match(lines[0], { traceId: /^[0-9a-f]{32}$/, err: { message: 'not now', stack: String } })
})

void t.test('after a failure the loop rests, however often it is woken', async (t) => {
  const begun: number[] = []
  const { clock, loop } = open({
    everyMs: null,
    retryMs: 500,
    pass: () => {
      begun.push(clock.nowMs())
      if (begun.length === 1) throw new Error('not now')
    },
  })
  for (let count = 0; count < 20; count++) {
    loop.wake()
    await clock.pass(20)
  }
  t.same(begun, [0])
  await clock.pass(1000)
  t.same(begun, [0, 500])
})

void t.test('the rest is proportional to the duration of the pass', async (t) => {
  const begun: number[] = []
  const { clock, loop } = open({
    everyMs: null,
    restMs: (tookMs) => Math.min(3 * tookMs, 100),
    pass: async () => {
      begun.push(clock.nowMs())
      loop.wake()
      await clock.sleep(begun.length === 1 ? 10 : 90)
    },
  })
  loop.wake()
  await clock.pass(400)
  t.same(begun, [0, 40, 230])
})

void t.test('a pass may schedule the next one', async (t) => {
  const begun: number[] = []
  const waits = [10, null, 20]
  const { clock, loop } = open({
    firstMs: 0,
    pass: ({ nextIn }) => {
      nextIn(waits[begun.length] ?? null)
      begun.push(clock.nowMs())
    },
  })
  await clock.pass(1000)
  t.same(begun, [0, 10], 'null: not until woken')
  loop.wake(5)
  await clock.pass(100)
  t.same(begun, [0, 10, 1005, 1025])
})

void t.test('closing aborts the running pass, waits for it, and leaves no timer', async (t) => {
  let isAborted = false
  let passes = 0
  const { clock, loop } = open({
    pass: async ({ signal }) => {
      passes += 1
      signal.addEventListener('abort', () => (isAborted = true))
      await clock.sleep(30)
    },
  })
  await clock.pass(110)
  loop.wake()
  let isClosed = false
  void loop.close().then(() => (isClosed = true))
  void loop.runNow()
  await clock.pass(10)
  t.same([isAborted, isClosed], [true, false])
  await clock.pass(1000)
  t.same([isClosed, passes, clock.waiting], [true, 1, 0])
  loop.wake()
  await loop.runNow()
  await clock.pass(1000)
  t.equal(passes, 1)
})

void t.test('the interval varies by at most the given share', async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0, max: 0.5, noNaN: true }), async (jitter) => {
      const begun: number[] = []
      const { clock } = open({ jitter, firstMs: 0, pass: () => begun.push(clock.nowMs()) })
      await clock.pass(1000)
      return begun.every((at, index) => {
        const waited = at - (begun[index - 1] ?? at - 100)
        return waited >= 99.99 * (1 - jitter) && waited <= 100.01 * (1 + jitter)
      })
    }),
    { numRuns: 30 },
  )
})
