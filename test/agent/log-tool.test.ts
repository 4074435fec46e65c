/** The live log of a real cache, by its own tool: whatever clients send, however many read, and whatever becomes of the tool. */
import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { pino } from 'pino'
import { LogChildren } from '../../src/agent/log/log-children.js'
import type { LogTool } from '../../src/agent/log/log-child.js'
import { LogStreams } from '../../src/agent/log/log-streams.js'
import { ServedGroups } from '../../src/agent/log/served-groups.js'
import type {
  LogEnded,
  LoggedTransaction,
  LogLines,
  WantedLog,
} from '../../src/messages/live-log.js'
import type { Unsent } from '../../src/agent/link/coordinator-link.js'
import { answering } from '../support/observe-cache.js'
import { cacheProgram } from '../support/cache-program.js'
import { root } from '../support/root.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { makeFolder } from './run-agent.js'

const log = pino({ level: 'silent' })
const everything: WantedLog = {
  ...{ query: null, sample: 1, linesPerSecond: 1_000, groups: null, domain: null },
  ...{ masksClients: false, withRecords: false },
}
/** Longer than a test: nobody renews. */
const forMs = 600_000

interface Reading {
  readonly messages: (Unsent<LogLines> | Unsent<LogEnded>)[]
  readonly streams: LogStreams
  /** Of this stream. */
  readonly of: (stream: string) => LoggedTransaction[]
  readonly dropped: () => number
  readonly ended: () => string[]
}

function startReading(t: Test, cache: Varnishd, tool: Partial<LogTool> = {}): Reading {
  const { logTool, recordTool, logVariables } = cacheProgram.product
  const children = new LogChildren({
    findTool: ({ format }) =>
      Promise.resolve({
        ...{ program: format === null ? recordTool : logTool, variables: logVariables },
        ...{ folder: cache.workDir, ...tool },
      }),
    log,
  })
  const messages: Reading['messages'] = []
  const streams = new LogStreams({
    children,
    groups: new ServedGroups({ readDesired: () => null, readSource: () => Promise.resolve('') }),
    masking: { headers: [], masksQuery: false },
    send: (message) => messages.push(message) > 0,
    log,
  })
  t.teardown(async () => {
    streams.stop()
    await children.stop()
  })
  const lines = () => messages.filter((one) => one.kind === 'logLines')
  return {
    ...{ messages, streams },
    of: (stream) => lines().flatMap((one) => (one.stream === stream ? [...one.transactions] : [])),
    dropped: () => lines().reduce((sum, one) => sum + one.dropped, 0),
    ended: () => messages.flatMap((one) => (one.kind === 'logEnded' ? [one.reason] : [])),
  }
}

function send({ host, httpPort }: Varnishd, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(httpPort, host)
    socket
      .on('error', () => undefined)
      .on('close', () => {
        resolve()
      })
    socket.resume().end(bytes)
  })
}

function ask(cache: Varnishd, path: string, headers = ''): Promise<void> {
  const head = `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n${headers}\r\n`
  return send(cache, Buffer.from(head, 'latin1'))
}

async function untilRead(cache: Varnishd, reading: Reading, stream: string): Promise<void> {
  await eventually('the stream reads', async () => {
    await ask(cache, '/begin')
    return reading.of(stream).some(({ url }) => url === '/begin')
  })
}

void t.test('the log of a real cache', async (t) => {
  const cache = await startVarnishd(t, { vcl: answering('a') })

  await t.test('every byte that a client may send is told, and forges nothing', async (t) => {
    const reading = startReading(t, cache)
    const { streams } = reading
    streams.take({ stream: 'lines', forMs, wanted: everything })
    streams.take({ stream: 'records', forMs, wanted: { ...everything, withRecords: true } })
    await Promise.all(['lines', 'records'].map((one) => untilRead(cache, reading, one)))
    for (let byte = 0; byte < 256; byte++) {
      const one = String.fromCharCode(byte)
      await ask(cache, `/byte-${byte}-${one}`, `X-Odd: ${one}-\r\n`)
    }
    await send(cache, Buffer.from(`GET /${'a'.repeat(10 << 20)} HTTP/1.1\r\n\r\n`))
    await ask(cache, '/end')
    for (const stream of ['lines', 'records']) {
      await eventually('all are read', () => reading.of(stream).some(({ url }) => url === '/end'))
      const told = reading.of(stream).filter(({ url }) => url.startsWith('/byte-'))
      const wrong = told.filter(({ url, method }) => {
        const [, byte = '', text] = /^\/byte-(\d+)-(.*)$/s.exec(url) ?? []
        const code = Number(byte)
        const high = `\\x${code.toString(16)}`
        return method !== 'GET' || text !== (code < 128 ? String.fromCharCode(code) : high)
      })
      // A blank and a line feed end the URL; the cache refuses them with some others.
      t.same(
        wrong.map(({ url }) => url).filter((url) => !/-(?:10|13|32)-$/.test(url)),
        [],
        stream,
      )
      t.ok(told.length > 128 + 90, `${stream}: ${told.length}`)
      t.ok(told.every(({ status, host }) => status >= 200 && ['a.example', ''].includes(host)))
    }
    t.same(reading.ended(), [])
  })

  await t.test('a sample is those that began at such a microsecond, a part as large', async (t) => {
    const reading = startReading(t, cache)
    const { streams } = reading
    streams.take({ stream: 'all', forMs, wanted: { ...everything, withRecords: true } })
    streams.take({ stream: 'some', forMs, wanted: { ...everything, sample: 10 } })
    await Promise.all(['all', 'some'].map((one) => untilRead(cache, reading, one)))
    const count = 600
    for (let at = 0; at < count; at++) await ask(cache, `/sampled/${at}`)
    await eventually('all are read', () =>
      reading.of('all').some(({ url }) => url === `/sampled/${count - 1}`),
    )
    const digit = ({ parts }: LoggedTransaction): string | undefined =>
      parts?.[0]?.records
        .find(({ tag, text }) => tag === 'Timestamp' && text.startsWith('Start:'))
        ?.text.split(' ')[1]
        ?.at(-1)
    const wanted = reading
      .of('all')
      .filter((one) => one.url.startsWith('/sampled/') && digit(one) === '7')
      .map(({ xid }) => xid)
    const sampled = () =>
      reading.of('some').flatMap(({ url, xid }) => (url.startsWith('/sampled/') ? [xid] : []))
    await eventually('the sample is read', () => sampled().length >= wanted.length)
    t.same(new Set(sampled()), new Set(wanted), 'those and no others')
    // Six standard deviations of so many with one in ten.
    t.ok(Math.abs(wanted.length - count / 10) < 6 * Math.sqrt(count * 0.09), `${wanted.length}`)
  })

  await t.test('a hundred readers of the same lines have one tool', async (t) => {
    const reading = startReading(t, cache)
    const streams = Array.from({ length: 100 }, (_, at) => `reader ${at}`)
    for (const stream of streams) reading.streams.take({ stream, forMs, wanted: everything })
    await Promise.all(streams.map((one) => untilRead(cache, reading, one)))
    t.same(reading.ended(), [])
  })

  await t.test('more than eight different readers are refused, and told why', async (t) => {
    const reading = startReading(t, cache)
    for (let at = 0; at < 9; at++)
      reading.streams.take({
        ...{ stream: `reader ${at}`, forMs },
        wanted: { ...everything, query: `RespStatus == ${at}` },
      })
    await eventually('one is refused', () => reading.ended().length > 0)
    t.match(reading.ended(), [/^this host runs 8 log readers already/])
  })

  await t.test(
    'who is not in the group of the cache has no right to its log, and is told',
    async (t) => {
      const script = join(root, 'test', 'agent', 'find-log-trouble.mjs')
      const find = async () => {
        const { stdout } = await promisify(execFile)(process.execPath, [script, cache.workDir])
        return JSON.parse(stdout) as unknown
      }
      // Whoever started the cache may read what it makes.
      const isOther = process.getuid?.() === 0
      const right = isOther ? { isLacking: true, why: /EACCES.*_\.vsm_child/ } : null
      t.match(await find(), right)
    },
  )

  await t.test('a tool that is not there, or does not take the query, is told', async (t) => {
    const missing = startReading(t, cache, { program: '/nowhere/varnishncsa' })
    missing.streams.take({ stream: 'missing', forMs, wanted: everything })
    const odd = startReading(t, cache, { folder: join(cache.workDir, 'nowhere') })
    odd.streams.take({ stream: 'odd', forMs, wanted: { ...everything, query: 'RespStatus ~ "("' } })
    await eventually('both have ended', () => missing.ended().length + odd.ended().length > 1)
    t.match(missing.ended(), [/ENOENT/])
    t.match(odd.ended(), [/expression/i], 'the words of the tool')
  })

  await t.test(
    'a tool that writes garbage and dies is told as lines that were left out',
    async (t) => {
      const folder = await makeFolder(t)
      const program = join(folder, 'garbage')
      const count = join(folder, 'runs')
      await writeFile(
        program,
        `#!/bin/sh\necho run >> ${count}\nprintf 'no\\tline\\n\\377\\000\\n'\nhead -c 300000 /dev/zero\necho\nsleep 3\nexit 3\n`,
      )
      await chmod(program, 0o755)
      const reading = startReading(t, cache, { program })
      reading.streams.take({ stream: 'garbage', forMs, wanted: everything })
      await eventually('it was started again', () => reading.dropped() >= 4)
      t.same(reading.ended(), [])
      t.same(reading.of('garbage'), [])
    },
  )
})
