/** Calls carried out in batches. */
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { gatherCalls } from '../../src/runtime/gathered-calls.js'

void t.test('each call is carried out once and gets its own answer', async () => {
  const bursts = fc.array(fc.array(fc.nat(1000), { maxLength: 12 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(bursts, fc.integer({ min: 1, max: 5 }), async (given, most) => {
      let running = 0
      const carriedOut: number[] = []
      const call = gatherCalls<number, number>({
        waitMs: 1,
        most,
        carryOut: async (calls) => {
          if (++running > 1 || calls.length > most) throw new Error('two at once, or too many')
          await pause(1)
          running -= 1
          carriedOut.push(...calls)
          if (calls.includes(13)) throw new Error('thirteen')
          return calls.map((number) => 2 * number)
        },
      })
      const answers: Promise<PromiseSettledResult<number>[]>[] = []
      for (const burst of given) {
        answers.push(Promise.allSettled(burst.map(call)))
        await pause(1)
      }
      const settled = (await Promise.all(answers)).flat()
      const numbers = given.flat()
      const isRight = settled.every((one, at) =>
        one.status === 'fulfilled'
          ? one.value === 2 * (numbers[at] ?? Number.NaN)
          : numbers.includes(13) && String(one.reason).includes('thirteen'),
      )
      return isRight && JSON.stringify(carriedOut) === JSON.stringify(numbers)
    }),
    { numRuns: 50 },
  )
})

void t.test('calls of the same moment share a batch and its failure', async (t) => {
  const sets: (readonly string[])[] = []
  const call = gatherCalls<string, string>({
    waitMs: 5,
    most: 10,
    carryOut: async (calls) => {
      sets.push(calls)
      await pause(5)
      if (calls.includes('bad')) throw new Error('refused')
      return calls
    },
  })

  const first = Promise.allSettled([call('bad'), call('one')])
  for (const { status } of await first) t.equal(status, 'rejected')

  t.same(await Promise.all([call('two'), call('three')]), ['two', 'three'])
  t.same(sets, [
    ['bad', 'one'],
    ['two', 'three'],
  ])
})
