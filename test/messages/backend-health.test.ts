/** Validation of an agent's backends. */
import t from 'tap'
import { decodeAgentMessage, MalformedMessage } from '../../src/messages/codec.js'

const envelope = { sequence: 1, traceId: 'abcdefgh' }

void t.test('a report may list 1,000 backends over all VCLs, and only valid names', (t) => {
  const name = (n: number) => `b${n}`
  const vcl = (of: string, from: number, count: number) => ({
    name: of,
    sick: [],
    omitted: { healthy: 0, sick: 0 },
    healthy: Array.from({ length: count }, (_, n) => name(from + n)),
  })
  const decode = (vcls: readonly object[]) =>
    decodeAgentMessage(JSON.stringify({ kind: 'backends', ...envelope, vcls }))
  t.match(decode([vcl('a', 0, 500), vcl('b', 500, 500)]), { vcls: { length: 2 } })
  for (const wrong of [
    [vcl('a', 0, 1_001)],
    [vcl('a', 0, 500), vcl('b', 500, 501)],
    [{ ...vcl('a', 0, 1), sick: [{ name: 'x'.repeat(256), since: 1 }] }],
    [{ ...vcl('a', 0, 1), sick: [{ name: 'x\ny', since: 1 }] }],
    [{ ...vcl('a', 0, 1), omitted: { healthy: -1, sick: 0 } }],
  ])
    t.throws(() => decode(wrong), MalformedMessage)
  t.end()
})
