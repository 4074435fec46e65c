/** Messages with desired states: one text for all agents with the same state. */
import fc from 'fast-check'
import t from 'tap'
import { createApplyWriter } from '../../../src/coordinator/gateway/apply-message.js'
import { decodeCoordinatorMessage, MalformedMessage } from '../../../src/messages/codec.js'
import { encodeShared } from '../../../src/messages/shared-message.js'
import { idleEngine, type DesiredEngine } from '../../../src/vcl/desired-engine.js'

const traceId = 'trace-of-test'

void t.test('each agent gets its own state, whatever was written before', (t) => {
  const engines: readonly DesiredEngine[] = [
    idleEngine,
    { ...idleEngine, labels: [{ label: 'cf-1', program: 'cf-idle' }] },
    { ...idleEngine, active: 'é"\\' },
  ]
  const states = fc.array(
    fc.record({
      desired: fc.constantFrom(...engines),
      desiredRevision: fc.integer({ min: 1, max: 3 }),
      traceId: fc.constantFrom('trace-of-one', 'trace-of-two'),
      sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    }),
  )
  fc.assert(
    fc.property(states, (told) => {
      const write = createApplyWriter()
      for (const { desired, desiredRevision, traceId, sequence } of told)
        t.strictSame(
          decodeCoordinatorMessage(
            encodeShared(write({ desired, desiredRevision }, traceId), sequence),
          ),
          { kind: 'apply', traceId, revision: desiredRevision, desired, sequence },
        )
    }),
    { numRuns: 50 },
  )
  t.end()
})

void t.test('equal states are written once, and a too long state throws', (t) => {
  const write = createApplyWriter()
  const state = { desired: idleEngine, desiredRevision: 1 }
  t.equal(write(state, traceId), write({ ...state }, traceId))
  const active = 'x'.repeat(1 << 20)
  t.throws(() => write({ ...state, desired: { ...idleEngine, active } }, traceId), MalformedMessage)
  t.end()
})
