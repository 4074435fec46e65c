/** Decoding bytes of the management port into replies, and answering its challenge. */

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import t from 'tap'
import { answerChallenge } from '../../protocol/auth.js'
import { ReplyDecoder, replyLimitBytes, replyText, type Reply } from '../../protocol/frame.js'

const garbled = { name: 'ManagementPortError', kind: 'garbled' }

/** In the cache's format: `%-3d %-8d\n`, body, LF. */
function encodeReply(status: number, body: Uint8Array): Buffer {
  const header = `${String(status).padEnd(3)} ${String(body.length).padEnd(8)}\n`
  return Buffer.concat([Buffer.from(header), body, Buffer.from('\n')])
}

const plain = (reply: Reply) => ({ status: reply.status, body: reply.body.toString('hex') })

const arbitraryReplies = fc.array(
  fc.record({
    status: fc.integer({ min: 100, max: 599 }),
    body: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 8 },
)

void t.test('any chunking of the stream gives the same replies', (t) => {
  fc.assert(
    fc.property(arbitraryReplies, fc.array(fc.nat(40)), (replies, cuts) => {
      const stream = Buffer.concat(replies.map(({ status, body }) => encodeReply(status, body)))
      const decoder = new ReplyDecoder()
      const seen: Reply[] = []
      let at = 0
      for (const size of cuts) seen.push(...decoder.push(stream.subarray(at, (at += size))))
      seen.push(...decoder.push(stream.subarray(at)))
      assert.deepEqual(
        seen.map(plain),
        replies.map(({ status, body }) => plain({ status, body: Buffer.from(body) })),
      )
      assert.equal(decoder.failure, null)
      assert.equal(decoder.isBetweenReplies, true)
    }),
  )
  t.end()
})

void t.test('the length counts bytes, not characters', (t) => {
  const [reply] = new ReplyDecoder().push(Buffer.from('200 6       \näöü\n'))
  t.equal(reply && replyText(reply), 'äöü')
  t.end()
})

void t.test('a body may resemble a header', (t) => {
  const body = '200 0       \n\n106 4       \nnope\n'
  const replies = new ReplyDecoder().push(encodeReply(200, Buffer.from(body)))
  t.strictSame(replies.map(replyText), [body])
  t.end()
})

void t.test('a long reply is assembled without repeated copying', (t) => {
  const body = Buffer.alloc(8 * 1024 * 1024, 'x')
  const stream = encodeReply(200, body)
  const decoder = new ReplyDecoder()
  const seen: Reply[] = []
  // 8,400 pieces: quadratic copying would be 35 GB.
  for (let at = 0; at < stream.length; at += 1000)
    seen.push(...decoder.push(stream.subarray(at, at + 1000)))
  t.equal(seen.length, 1)
  t.ok(seen[0]?.body.equals(body))
  t.end()
})

void t.test('garbage ends decoding, and the replies before it count', (t) => {
  const garbage = {
    'another protocol': 'HTTP/1.1 400 Bad Request\r\n',
    'no digits': 'abc 0       \n\n',
    'a status of two digits': '20  0       \n\n',
    'no blank behind the status': '200-0       \n\n',
    'no length': '200         \n\n',
    'a length with letters': '200 1x      \na\n',
    'a negative length': '200 -1      \n\n',
    'a header without line feed': '200 0        \n\n',
    'a body without line feed': '200 2       \nabc\n',
    'a length beyond the limit': `200 ${replyLimitBytes + 1}\n`,
    'a huge length': '200 99999999\n',
  }
  for (const [what, bytes] of Object.entries(garbage)) {
    const decoder = new ReplyDecoder()
    const replies = decoder.push(Buffer.from(`200 2       \nok\n${bytes}`))
    t.strictSame(replies.map(replyText), ['ok'], what)
    t.equal(decoder.failure?.kind, 'garbled', what)
    t.strictSame(decoder.push(Buffer.from('200 2       \nok\n')), [], 'no further replies')
  }
  t.end()
})

void t.test('a body at the length limit is awaited', (t) => {
  const decoder = new ReplyDecoder()
  t.strictSame(decoder.push(Buffer.from(`200 ${replyLimitBytes}\nab`)), [])
  t.equal(decoder.failure, null)
  t.equal(decoder.isBetweenReplies, false)
  t.end()
})

void t.test('the answer to a challenge includes every byte of the secret', (t) => {
  const challenge = 'aespdguuotyvaevuhhoiwixefjxetqjn'
  const body = Buffer.from(`${challenge}\n\nAuthentication required.\n\n`)
  const secret = Buffer.from([0, 1, 0xff, 0x0a])
  const bytes = Buffer.concat([
    Buffer.from(`${challenge}\n`),
    secret,
    Buffer.from(`${challenge}\n`),
  ])
  t.equal(answerChallenge(body, secret), createHash('sha256').update(bytes).digest('hex'))
  t.not(answerChallenge(body, secret.subarray(0, 3)), answerChallenge(body, secret))
  t.throws(() => answerChallenge(Buffer.from('short\n'), secret), garbled)
  t.end()
})
