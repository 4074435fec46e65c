/** Connections over streams other than sockets. */
import { duplexPair } from 'node:stream'
import t from 'tap'
import { expectText, type Command } from '../../protocol/command.js'
import { openManagementConnection } from '../../protocol/connection.js'

const noSecret = () => Promise.resolve(Buffer.from('any\n'))
const echo = (word: string): Command<string> => ({ name: 'echo', line: word, parse: expectText })

function encodeReply(status: number, body: string): string {
  return `${status} ${String(Buffer.byteLength(body)).padEnd(8)}\n${body}\n`
}

const bannerReply = encodeReply(200, '\nvarnish-7.1.1 revision abc\n')

void t.test('a connection works over any stream', async (t) => {
  const [ours, theirs] = duplexPair()
  theirs.write(bannerReply)
  theirs.on('data', (chunk: Buffer) => theirs.write(encodeReply(200, chunk.toString().trim())))
  const connection = await openManagementConnection(ours, { secret: noSecret })
  t.strictSame(await Promise.all([connection.run(echo('a')), connection.run(echo('b'))]), [
    'a',
    'b',
  ])
  theirs.end()
  t.match(await connection.closed, { kind: 'lost' })
})

void t.test('a slow reader gets every command', async (t) => {
  const [ours, theirs] = duplexPair()
  theirs.write(bannerReply)
  let unread = ''
  theirs.on('data', (chunk: Buffer) => {
    const lines = (unread + chunk.toString()).split('\n')
    unread = lines.pop() ?? ''
    for (const line of lines) if (line !== '') theirs.write(encodeReply(200, String(line.length)))
  })
  const connection = await openManagementConnection(ours, { secret: noSecret })
  // Each exceeds the stream's buffer.
  const words = Array.from({ length: 8 }, (_, at) => 'a'.repeat(100_000 + at))
  t.strictSame(
    await connection.runAll(words.map(echo)),
    words.map((word) => ({ ok: true, result: String(word.length) })),
  )
  theirs.end()
  await connection.closed
})
