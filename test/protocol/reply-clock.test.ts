/** Timeouts of the oldest command in flight, also when the process itself was late. */
import t from 'tap'
import { createReplyClock } from '../../protocol/reply-clock.js'

void t.test('a reply that lay unread is not late; the next command has its own time', async (t) => {
  const commands = ['first', 'second'].map((name) => ({ name, timeoutMs: 0 }))
  let looks = 0
  const late = await new Promise((tell) => {
    const clock = createReplyClock({
      oldest: () => {
        looks += 1
        // The reply is read in the turn of the event loop between the first two checks.
        if (looks === 1) setImmediate(() => commands.shift())
        return commands[0]
      },
      onLate: tell,
    })
    clock.start({ name: 'first', timeoutMs: 0 })
  })
  t.match(late, { name: 'second' })
})
