/** The signal that ends the steps of a test file. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { startDeadline } from '../../src/runtime/deadline.js'
import { eventually } from '../support/eventually.js'

void t.test('the signal fires after its time, or with the outer signal', async (t) => {
  const outer = new AbortController()
  const soon = startDeadline(1, outer.signal)
  await eventually('the time is over', () => soon.signal.aborted)
  const late = startDeadline(600_000, outer.signal)
  t.equal(late.signal.aborted, false)
  outer.abort()
  t.equal(late.signal.aborted, true)
  late.stop()
  const behind = startDeadline(600_000, outer.signal)
  t.equal(behind.signal.aborted, true, 'the outer signal had fired before')
  behind.stop()
})

void t.test('a stopped deadline never fires', async (t) => {
  const outer = new AbortController()
  const stopped = startDeadline(1, outer.signal)
  stopped.stop()
  const other = startDeadline(5, outer.signal)
  await eventually('a later one fired', () => other.signal.aborted)
  outer.abort()
  await turn()
  t.equal(stopped.signal.aborted, false)
})
