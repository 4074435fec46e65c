/** Whether a purge succeeded, by the answers and by the counters of a modelled cache. */
import fc from 'fast-check'
import t from 'tap'
import type { CounterReading } from '../../src/agent/counters/counter-rates.js'
import {
  countPurges,
  judgePurges,
  purgeCounter,
  type PurgeAnswer,
} from '../../src/agent/invalidate/purge-outcome.js'

const anyAnswer: fc.Arbitrary<PurgeAnswer> = fc.record({
  url: fc.webPath().map((path) => `shop.example${path}`),
  status: fc.oneof({ weight: 4, arbitrary: fc.constant(200) }, fc.integer({ min: 200, max: 599 })),
})
const anyAnswers = fc.array(anyAnswer, { minLength: 1, maxLength: 20 })
const isOk = ({ status }: PurgeAnswer): boolean => status < 300

function reading(values: Readonly<Record<string, bigint>>, more: Partial<CounterReading> = {}) {
  return {
    atMs: 0,
    isComplete: true,
    lives: { manager: 'a', child: 'a' },
    values: new Map(Object.entries(values)),
    ...more,
  } satisfies CounterReading
}

const counted = (purges: bigint, more?: Partial<CounterReading>) =>
  reading({ [purgeCounter]: purges }, more)

void t.test('a purge is done and certain when every request got a 2xx and was counted', (t) => {
  fc.assert(
    fc.property(anyAnswers, fc.bigInt({ min: 0n, max: 30n }), (answers, purges) => {
      const { isDone, error } = judgePurges('PURGE', answers, purges)
      const isRight = answers.every(isOk) && purges >= BigInt(answers.length)
      return isDone === isRight && (error === null) === isRight
    }),
  )
  t.end()
})

void t.test('concurrent purges of others never make a purge fail', (t) => {
  const anyCount = fc.bigInt({ min: 0n, max: 30n })
  fc.assert(
    fc.property(anyAnswers, anyCount, anyCount, (answers, purges, foreign) => {
      const alone = judgePurges('PURGE', answers, purges)
      return !alone.isDone || judgePurges('PURGE', answers, purges + foreign).isDone
    }),
  )
  t.end()
})

void t.test('without counters the answers decide, and the result is unconfirmed', (t) => {
  fc.assert(
    fc.property(anyAnswers, (answers) => {
      const { isDone, error } = judgePurges('PURGE', answers, null)
      return isDone === answers.every(isOk) && isDone === (error === 'unconfirmed')
    }),
  )
  t.end()
})

void t.test('a refused purge is named with its status, an uncounted one with the reason', (t) => {
  const refused = Array.from({ length: 5 }, (_, n) => ({ url: `a.example/${n}`, status: 405 }))
  t.equal(
    judgePurges('PURGE', refused, 5n).error,
    'not purged: a.example/0: 405, a.example/1: 405, a.example/2: 405 and 2 more',
  )
  const answers = [1, 2].map((n) => ({ url: `a.example/${n}`, status: 200 }))
  t.match(
    judgePurges('REFRESH', answers, 1n).error,
    /2xx: 2, .*counted: 1; .*\(purge\) for REFRESH/,
  )
  t.end()
})

void t.test('the purges between two readings of the same child are counted', (t) => {
  const first = 2n ** 62n
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 62n }), (purges) => {
      return countPurges(counted(first), counted(first + purges)) === purges
    }),
  )
  t.end()
})

void t.test('readings that cannot be compared yield null', (t) => {
  const other = { lives: { manager: 'a', child: 'b' } }
  t.equal(countPurges(null, counted(1n)), null, 'it did not run, or was unreadable')
  t.equal(countPurges(counted(1n), null), null)
  t.equal(countPurges(counted(1n), counted(5n, other)), null, 'another child')
  t.equal(countPurges(counted(5n), counted(1n)), null, 'fewer purges mean another child')
  t.equal(countPurges(reading({}), reading({})), null, 'the cache counts no purges')
  t.equal(countPurges(reading({}, { isComplete: false }), counted(1n)), null)
  t.end()
})
