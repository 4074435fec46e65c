/** The invalidation log as messages: one text for all agents with equal entries, cut to the size of a message. */
import t from 'tap'
import fc from 'fast-check'
import {
  createMessageWriter,
  cutMessages,
} from '../../../src/coordinator/gateway/invalidation-message.js'
import type { DeliverableEntry } from '../../../src/coordinator/invalidations/invalidation-log.js'
import type { Coverage } from '../../../src/coordinator/invalidations/invalidation.js'
import { decodeCoordinatorMessage } from '../../../src/messages/codec.js'
import { encodeShared, type SharedMessage } from '../../../src/messages/shared-message.js'

const createdAt = Date.UTC(2026, 0, 1)
const everything: Coverage = { groups: null }
const place = { after: 4, isRestart: false }
const [one, two, narrowed, stranger] = [1, 2, 3, 4]
const coverages = new Map([
  [one, everything],
  [two, everything],
  [narrowed, { groups: [9] }],
])

function logged(position: number, value = 'é"\\'): DeliverableEntry {
  const terms = [{ field: 'req.url', operator: '~', value }] as const
  return {
    id: position,
    position,
    attemptSetId: 1,
    createdAt,
    traceId: 'trace-of-test',
    content: { type: 'ban', expressions: [terms] },
    bytes: value.length,
    coverages,
    secrets: new Map<number, string>(),
  }
}

function decode(message: SharedMessage, sequence: number) {
  return decodeCoordinatorMessage(encodeShared(message, sequence))
}

function only(entries: readonly DeliverableEntry[], agentId: number) {
  const [orders = []] = [...cutMessages(entries, agentId)]
  return orders
}

void t.test('agents with equal entries share one text, each with its own sequence', (t) => {
  let now = createdAt + 1500
  const write = createMessageWriter(() => now)
  const entries = [logged(5), logged(6)]
  const first = write(only(entries, one), place)
  now += 5
  t.equal(write(only(entries, two), place), first)
  const ban = { expressions: [[['req.url', '~', 'é"\\']]], groups: null }
  t.same(decode(first, 7), {
    kind: 'invalidate',
    traceId: 'trace-of-test',
    after: 4,
    isRestart: false,
    sequence: 7,
    entries: [5, 6].map((position) => ({ position, ageMs: 1500, ban, purge: null })),
  })

  const other = decode(write(only(entries, narrowed), place), 1)
  t.match(other, { entries: [{ ban: { groups: [9] } }, {}] }, 'another coverage')
  t.match(decode(write(only(entries, two), { ...place, after: 3 }), 1), { after: 3 })
  t.match(decode(write(only(entries, two), { ...place, isRestart: true }), 1), { isRestart: true })
  t.same(only(entries, stranger), [], 'an entry for other agents')
  t.end()
})

void t.test('an age is never much too low', (t) => {
  let now = createdAt
  const write = createMessageWriter(() => now)
  const entries = [logged(5)]
  write(only(entries, one), place)
  now += 1000
  t.match(decode(write(only(entries, two), place), 1), { entries: [{ ageMs: 1000 }] })
  t.end()
})

void t.test('messages hold all entries in order, and no message is too long', (t) => {
  const lengths = fc.array(fc.integer({ min: 1, max: 250_000 }), { maxLength: 12 })
  fc.assert(
    fc.property(lengths, (given) => {
      const entries = given.map((length, index) => logged(index + 1, 'x'.repeat(length)))
      const write = createMessageWriter(() => createdAt)
      const messages = [...cutMessages(entries, one)].map((orders) => {
        const message = decode(write(orders, place), Number.MAX_SAFE_INTEGER)
        return message.kind === 'invalidate' ? message.entries.map(({ position }) => position) : []
      })
      t.same(
        messages.flat(),
        entries.map(({ position }) => position),
      )
      return messages.every((positions) => positions.length > 0)
    }),
    { numRuns: 20 },
  )
  t.end()
})
