/** One connection: authentication, order, windows, and every way it can end. */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { expectText, typedLine, type Command } from '../../protocol/command.js'
import { ban, banList } from '../../protocol/commands/ban.js'
import { childStatus, ping } from '../../protocol/commands/process.js'
import { vclInline, vclList } from '../../protocol/commands/vcl.js'
import {
  connectManagementPort,
  type ManagementConnection,
  type PortOptions,
} from '../../protocol/connection.js'
import type { ManagementPortError } from '../../protocol/errors.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'

const challenge = 'aespdguuotyvaevuhhoiwixefjxetqjn\n\nAuthentication required.\n\n'
const noSecret = () => Promise.resolve(Buffer.from('any\n'))
const echo = (word: string): Command<string> => ({ name: 'echo', line: word, parse: expectText })

function encodeReply(status: number, body: string): string {
  return `${status} ${String(Buffer.byteLength(body)).padEnd(8)}\n${body}\n`
}

const bannerReply = encodeReply(200, '\nvarnish-7.1.1 revision abc\n')

/** A server other than a cache; `talk` handles each connection. */
async function serve(t: Test, talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    talk(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Greets without a challenge, then calls `answer` with each non-empty line. */
function serveLines(t: Test, answer: (line: string, socket: Socket) => void): Promise<number> {
  return serve(t, (socket) => {
    socket.write(bannerReply)
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\n')) if (line !== '') answer(line, socket)
    })
  })
}

const connect = async (t: Test, port: number, options: Partial<PortOptions> = {}) => {
  const all = { host: '127.0.0.1', port, secret: noSecret, ...options }
  const connection = await connectManagementPort(all)
  t.teardown(() => {
    connection.close()
  })
  return connection
}

const failureOf = (promise: Promise<unknown>): Promise<ManagementPortError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as ManagementPortError, // the assertions check its type
  )

void t.test('authentication at a real cache', async (t) => {
  const cache = await startVarnishd(t)
  const readSecret = () => readFile(cache.secretFile)

  await t.test('succeeds with the right secret and reads the release', async (t) => {
    const connection = await connect(t, cache.port, { secret: readSecret })
    t.match(connection.banner, { product: 'varnish', version: /^\d+\.\d+\.\d+/ })
    t.equal(await connection.run(childStatus()), 'running')
  })

  await t.test('is refused with a wrong secret, even one that lacks the line feed', async (t) => {
    const trimmed = async () => Buffer.from((await readSecret()).toString().trimEnd())
    for (const secret of [noSecret, trimmed]) {
      const error = await failureOf(connect(t, cache.port, { secret }))
      t.match(error, { kind: 'auth-refused', status: 500, message: /not the one of this cache/ })
    }
  })

  await t.test('reports a greeting longer than cli_limit', async (t) => {
    await cache.adm('param.set', 'cli_limit', '128b')
    const error = await failureOf(connect(t, cache.port, { secret: readSecret }))
    t.match(error, {
      kind: 'auth-refused',
      status: 201,
      message: /cli_limit, which must be raised/,
    })
  })
  await cache.restart()

  await t.test('reads the secret again for each connection', async (t) => {
    await writeFile(cache.secretFile, 'another\n')
    const connection = await connect(t, cache.port, { secret: readSecret })
    t.equal(await connection.run(childStatus()), 'running')
  })

  await t.test('reports a secret that either side cannot read', async (t) => {
    const missing = `${cache.secretFile}.away`
    const ours = await failureOf(connect(t, cache.port, { secret: () => readFile(missing) }))
    t.match(ours, { kind: 'auth-refused', message: /cannot be read: ENOENT/, sent: false })
    await rename(cache.secretFile, missing)
    const theirs = await failureOf(connect(t, cache.port, { secret: () => readFile(missing) }))
    t.match(theirs, { kind: 'auth-refused', status: 300, message: /Cannot open secret file/ })
    await rename(missing, cache.secretFile)
  })

  await t.test('ends with the manager', async (t) => {
    const connection = await connect(t, cache.port, { secret: readSecret })
    await cache.stop()
    t.match(await connection.closed, { kind: 'lost' })
    t.match(await failureOf(connection.run(ping())), { kind: 'lost', sent: false, command: 'ping' })
    const error = await failureOf(connect(t, cache.port, { secret: readSecret }))
    t.match(error, { kind: 'lost', sent: false, message: /ECONNREFUSED/ })
  })
})

void t.test('a cache without authentication needs no secret', async (t) => {
  const cache = await startVarnishd(t, { vcl: null, secret: null })
  const connection = await connect(t, cache.port, {
    secret: () => Promise.reject(new Error('asked for')),
  })
  t.equal(await connection.run(childStatus()), 'stopped')
  t.strictSame(await connection.run(vclList()), [])
  await connection.run(typedLine('quit'))
  t.match(await connection.closed, { kind: 'lost' })
})

void t.test('a wrong greeting fails the connection', async (t) => {
  const table: [string, (socket: Socket) => void, object][] = [
    ['another protocol', (s) => s.write('HTTP/1.1 400 Bad Request\r\n\r\n'), { kind: 'garbled' }],
    ['a wrong status', (s) => s.write(encodeReply(500, '')), { kind: 'garbled', status: 500 }],
    ['a strange challenge', (s) => s.write(encodeReply(107, 'ABC\n')), { kind: 'garbled' }],
    ['two messages', (s) => s.write(bannerReply + bannerReply), { kind: 'garbled' }],
    ['a message and a half', (s) => s.write(`${bannerReply}200 `), { kind: 'garbled' }],
    ['half a header and the end', (s) => s.end('107 5'), { kind: 'lost', sent: false }],
    ['the end at once', (s) => s.end(), { kind: 'lost', sent: false }],
    ['nothing', () => undefined, { kind: 'timeout', sent: false }],
    ['half a body', (s) => s.write('107 59      \nabc'), { kind: 'timeout' }],
    ['no verdict', (s) => s.write(encodeReply(107, challenge)), { kind: 'timeout' }],
    [
      'an end instead of a verdict',
      (s) => {
        s.write(encodeReply(107, challenge))
        s.once('data', () => s.end())
      },
      { kind: 'lost' },
    ],
  ]
  for (const [what, talk, expected] of table) {
    const port = await serve(t, talk)
    const isTimeout = 'kind' in expected && expected.kind === 'timeout'
    const options = isTimeout ? { handshakeTimeoutMs: 100 } : {}
    t.match(await failureOf(connect(t, port, options)), expected, what)
  }
})

void t.test('connecting can be aborted', async (t) => {
  const port = await serve(t, () => undefined)
  const attempt = failureOf(connect(t, port, { signal: AbortSignal.timeout(50) }))
  t.match(await attempt, { kind: 'lost', sent: false, message: /given up/ })
  const late = failureOf(connect(t, port, { signal: AbortSignal.abort() }))
  t.match(await late, { kind: 'lost', sent: false })
})

/** Measures how many commands the client sends before their replies, then answers the oldest. */
async function measureWindow(
  t: Test,
  send: (connection: ManagementConnection) => Promise<unknown>,
) {
  const unanswered: string[] = []
  let most = 0
  const port = await serveLines(t, (line, socket) => {
    unanswered.push(line)
    most = Math.max(most, unanswered.length)
    setImmediate(() => socket.write(encodeReply(200, unanswered.shift() ?? '')))
  })
  await send(await connect(t, port))
  return most
}

void t.test('run keeps one command in flight, runAll a window', async (t) => {
  const words = Array.from({ length: 50 }, (_, index) => `w${index}`)
  const one = await measureWindow(t, async (connection) => {
    const answers = await Promise.all(words.map((word) => connection.run(echo(word))))
    t.strictSame(answers, words)
  })
  t.equal(one, 1)
  const eight = await measureWindow(t, async (connection) => {
    const outcomes = await connection.runAll(words.map(echo))
    t.strictSame(
      outcomes,
      words.map((result) => ({ ok: true, result })),
    )
  })
  t.equal(eight, 8)
  const mixed = await measureWindow(t, async (connection) => {
    const all = connection.runAll(words.map(echo), { window: 3 })
    t.strictSame(await Promise.all(['x', 'y'].map((word) => connection.run(echo(word)))), [
      'x',
      'y',
    ])
    t.strictSame((await all).length, 50)
    t.strictSame(await connection.runAll([]), [])
  })
  t.equal(mixed, 3)
})

void t.test('a window of bans at the real cache keeps the order, refusals included', async (t) => {
  const cache = await startVarnishd(t)
  const connection = await connect(t, cache.port, { secret: () => readFile(cache.secretFile) })
  const commands = Array.from({ length: 300 }, (_, index) =>
    ban([{ field: 'req.url', operator: '~', value: index === 150 ? '(' : `^/${index}$` }]),
  )
  const outcomes = await connection.runAll(commands, { window: 16 })
  const failed = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ index, ...outcome }]))
  t.match(failed, [{ index: 150, error: { kind: 'rejected', status: 106, text: /Regex/ } }])
  t.equal((await connection.run(banList()))[0]?.expression, 'req.url ~ ^/299$')
})

void t.test('lost, late and garbled replies report which commands may have run', async (t) => {
  const table: [string, (socket: Socket) => void, string][] = [
    ['no answer', () => undefined, 'timeout'],
    ['half a header', (s) => s.write('200 1'), 'timeout'],
    ['half a body', (s) => s.write('200 10      \nabc'), 'timeout'],
    ['the end', (s) => s.end(), 'lost'],
    ['the end in the middle of an answer', (s) => s.end('200 10      \nabc'), 'lost'],
    ['a reset', (s) => s.resetAndDestroy(), 'lost'],
    ['garbage', (s) => s.write('what did you say?\n'), 'garbled'],
    ['a huge length', (s) => s.write('200 99999999\n'), 'garbled'],
  ]
  for (const [what, answer, kind] of table) {
    const port = await serveLines(t, (line, socket) => {
      if (line === 'good') socket.write(encodeReply(200, 'yes'))
      else if (line === 'bad') answer(socket)
    })
    const connection = await connect(t, port)
    const commands = ['good', 'bad', 'next', 'last'].map((word) => ({
      ...echo(word),
      timeoutMs: word === 'bad' && kind === 'timeout' ? 100 : 20_000,
    }))
    const together = connection.runAll(commands, { window: 3 })
    const behind = failureOf(connection.run(echo('behind')))

    t.match(
      await together,
      [
        { ok: true, result: 'yes' },
        { error: { kind, sent: true, command: 'echo' } },
        { error: { kind: 'lost', sent: true } },
        { error: { kind: 'lost', sent: false } },
      ],
      what,
    )
    t.match(await behind, { kind: 'lost', sent: false }, what)
    t.match(await connection.closed, { kind }, what)
    t.equal(connection.isClosed, true)
    t.equal(connection.pendingCount, 0)
    t.match(await failureOf(connection.run(echo('later'))), { kind: 'lost', sent: false }, what)
  }
})

void t.test('an unsolicited reply ends the connection', async (t) => {
  const port = await serveLines(t, (_, socket) => {
    socket.write(encodeReply(200, 'yes') + encodeReply(200, 'and more'))
  })
  const connection = await connect(t, port)
  t.equal(await connection.run(echo('a')), 'yes')
  t.match(await connection.closed, { kind: 'garbled', message: /answers no command/ })
})

void t.test('a window that is cut off settles thousands of commands', async (t) => {
  const port = await serveLines(t, (_, socket) => socket.end())
  const connection = await connect(t, port)
  const outcomes = await connection.runAll(Array.from({ length: 20_000 }, () => echo('a')))
  t.equal(outcomes.filter((outcome) => !outcome.ok && !outcome.error.sent).length, 20_000 - 8)
})

void t.test('commands beyond the queue limit are refused unsent', async (t) => {
  const port = await serveLines(t, () => undefined)
  const connection = await connect(t, port, { queueLimit: 2 })
  const attempts = ['flies', 'waits', 'waits', 'refused'].map((word) =>
    failureOf(connection.run(echo(word))),
  )
  t.match(await attempts[3], { kind: 'refused', sent: false, message: /2 commands are waiting/ })
  connection.close()
  t.match(await Promise.all(attempts.slice(0, 3)), [
    { kind: 'lost', sent: true, message: /closed by us/ },
    { kind: 'lost', sent: false },
    { kind: 'lost', sent: false },
  ])
})

void t.test('a load that timed out may still take effect', async (t) => {
  const cache = await startVarnishd(t)
  const options = { secret: () => readFile(cache.secretFile) }
  const connection = await connect(t, cache.port, options)
  process.kill(cache.pid(), 'SIGSTOP')
  const load = vclInline('late', 'vcl 4.1;\nbackend default none;\n')
  const [late, behind] = await Promise.all([
    failureOf(connection.run(load, { timeoutMs: 50 })),
    failureOf(connection.run(ping())),
  ])
  process.kill(cache.pid(), 'SIGCONT')
  t.match(late, { kind: 'timeout', sent: true, command: 'vcl.inline' })
  t.match(behind, { kind: 'lost', sent: false })
  const again = await connect(t, cache.port, options)
  await eventually('the VCL is loaded', async () =>
    (await again.run(vclList())).some(({ name }) => name === 'late'),
  )
})

void t.test('an exception in a parser reaches its caller, and the connection lives', async (t) => {
  const port = await serveLines(t, (line, socket) => socket.write(encodeReply(200, line)))
  const connection = await connect(t, port)
  const broken: Command<never> = {
    ...echo('a'),
    parse: () => {
      throw new TypeError('a bug')
    },
  }
  await t.rejects(connection.run(broken), TypeError)
  await t.rejects(connection.runAll([broken]), TypeError)
  const late: Command<never> = { ...echo('a'), parse: () => Promise.reject(new TypeError('late')) }
  await t.rejects(connection.run(late), TypeError)
  t.equal((await connection.run(typedLine(' b '))).body.toString(), ' b ')
})
