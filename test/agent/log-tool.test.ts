/** The live log of a real cache, by its own tool: any client bytes, many readers, and any fate of the tool. */
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
import { toRun } from '../../src/agent/log/wanted-log.js'
import { ServedGroups } from '../../src/agent/log/served-groups.js'
import type {
  LogEnded,
  LoggedTransaction,
  LogLines,
  WantedLog,
} from '../../src/messages/live-log.js'
import { parseLogLine, type LogLine } from '../../src/traffic/log-line.js'
import type { Unsent } from '../../src/agent/link/coordinator-link.js'
import { answering } from '../support/observe-cache.js'
import { cacheProgram } from '../support/cache-program.js'
import { root } from '../support/root.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { makeFolder } from './run-agent.js'

const log = pino({ level: 'silent' })
const everything: WantedLog = {
  query: null,
  sample: 1,
  linesPerSecond: 1_000,
  groups: null,
  domain: null,
  masksClients: false,
  withRecords: false,
}
/** Longer than a test, so no renewal is needed. */
const forMs = 600_000

interface Reading {
  readonly children: LogChildren
  readonly messages: (Unsent<LogLines> | Unsent<LogEnded>)[]
  readonly streams: LogStreams
  /** The transactions of one stream. */
  readonly of: (stream: string) => LoggedTransaction[]
  readonly dropped: () => number
  readonly ended: () => string[]
}

interface ReadingSetup {
  readonly tool?: Partial<LogTool>
  /** Whether the link accepts a message now. */
  readonly isClear?: (message: Reading['messages'][number]) => boolean
}

function startReading(
  t: Test,
  cache: Varnishd,
  { tool = {}, isClear = () => true }: ReadingSetup = {},
): Reading {
  const { logTool, recordTool, logVariables } = cacheProgram.product
  const children = new LogChildren({
    findTool: ({ format }) =>
      Promise.resolve({
        program: format === null ? recordTool : logTool,
        variables: logVariables,
        folder: cache.workDir,
        ...tool,
      }),
    log,
  })
  const messages: Reading['messages'] = []
  const streams = new LogStreams({
    children,
    groups: new ServedGroups({ readDesired: () => null, readSource: () => Promise.resolve('') }),
    masking: { headers: [], masksQuery: false },
    send: (message) => isClear(message) && messages.push(message) > 0,
    log,
  })
  t.teardown(async () => {
    streams.stop()
    await children.stop()
  })
  const lines = () => messages.filter(isLines)
  return {
    children,
    messages,
    streams,
    of: (stream) => lines().flatMap((one) => (one.stream === stream ? [...one.transactions] : [])),
    dropped: () => lines().reduce((sum, one) => sum + one.dropped, 0),
    ended: () => messages.flatMap((one) => (one.kind === 'logEnded' ? [one.reason] : [])),
  }
}

function isLines(message: Reading['messages'][number]): message is Unsent<LogLines> {
  return message.kind === 'logLines'
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
  const cache = await startVarnishd(t, {
    vcl: answering('a'),
    // Large enough that no request of a test is overwritten before it is read.
    args: ['-l', '64m'],
  })

  await t.test('every byte a client may send is logged, and none forges a line', async (t) => {
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
      // A space and a line feed end the URL; the cache refuses some other bytes.
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

  await t.test('a sample consists of the requests started at matching microseconds', async (t) => {
    const { children } = startReading(t, cache)
    const groups = new ServedGroups({
      readDesired: () => null,
      readSource: () => Promise.resolve(''),
    })
    const samples = [1, 10, 100, 1000] as const
    const read = samples.map((sample): LogLine[] => {
      const lines: LogLine[] = []
      const leave = children.read(toRun({ ...everything, sample }, groups), {
        onLine: (text) => {
          const line = parseLogLine(text)
          if (line !== null) lines.push(line)
        },
        onEnd: (why) => {
          throw new Error(why)
        },
      })
      t.teardown(leave)
      return lines
    })
    const batch = 100
    const askBatch = async (path: string) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: a.example\r\n`
      await send(
        cache,
        Buffer.from(`${`${head}\r\n`.repeat(batch - 1)}${head}Connection: close\r\n\r\n`),
      )
    }
    await eventually('all tools read', async () => {
      await askBatch('/begin')
      return read.every(({ length }) => length > 0)
    })
    const count = 12_000
    for (let at = 0; at < count; at += batch) await askBatch('/sampled')
    const [all = []] = read
    const sampledOf = (lines: readonly LogLine[]) => lines.filter(({ url }) => url === '/sampled')
    await eventually('all are read', () => sampledOf(all).length === count)
    for (const [at, lines] of read.entries()) {
      const sample = samples[at] ?? 1
      const digits = { 1: '', 10: '7', 100: '37', 1000: '137' }[sample]
      const wanted = sampledOf(all).filter(({ startedAtSeconds }) =>
        startedAtSeconds.endsWith(digits),
      )
      await eventually('the sample is read', () => sampledOf(lines).length >= wanted.length)
      const ids = (some: readonly LogLine[]) => some.map(({ vxid }) => vxid).sort()
      t.same(ids(sampledOf(lines)), ids(wanted), `those of 1 in ${sample}, and no others`)
      const sigma = Math.sqrt((count / sample) * (1 - 1 / sample))
      t.ok(Math.abs(wanted.length - count / sample) <= 6 * sigma, `${wanted.length} of ${count}`)
    }
  })

  await t.test('a hundred readers of the same lines share one tool', async (t) => {
    const reading = startReading(t, cache)
    const streams = Array.from({ length: 100 }, (_, at) => `reader ${at}`)
    for (const stream of streams) reading.streams.take({ stream, forMs, wanted: everything })
    await Promise.all(streams.map((one) => untilRead(cache, reading, one)))
    t.same(reading.ended(), [])
  })

  await t.test('a ninth different reader is refused with a reason', async (t) => {
    const reading = startReading(t, cache)
    for (let at = 0; at < 9; at++)
      reading.streams.take({
        stream: `reader ${at}`,
        forMs,
        wanted: { ...everything, query: `RespStatus == ${at}` },
      })
    await eventually('one is refused', () => reading.ended().length > 0)
    t.match(reading.ended(), [/^this host runs 8 log readers already/])
  })

  await t.test(
    'a user outside the group of the cache cannot read its log, and learns why',
    async (t) => {
      const script = join(root, 'test', 'agent', 'find-log-trouble.mjs')
      const find = async () => {
        const { stdout } = await promisify(execFile)(process.execPath, [script, cache.workDir])
        return JSON.parse(stdout) as unknown
      }
      // Root started the cache and keeps access; another user is out of its group.
      const isOther = process.getuid?.() === 0
      const right = isOther ? { isLacking: true, why: /EACCES.*_\.vsm_child/ } : null
      t.match(await find(), right)
    },
  )

  await t.test('a missing tool, or one that rejects the query, is reported', async (t) => {
    const missing = startReading(t, cache, { tool: { program: '/nowhere/varnishncsa' } })
    missing.streams.take({ stream: 'missing', forMs, wanted: everything })
    const odd = startReading(t, cache, { tool: { folder: join(cache.workDir, 'nowhere') } })
    odd.streams.take({ stream: 'odd', forMs, wanted: { ...everything, query: 'RespStatus ~ "("' } })
    await eventually('both have ended', () => missing.ended().length + odd.ended().length > 1)
    t.match(missing.ended(), [/ENOENT/])
    t.match(odd.ended(), [/expression/i], 'the tool’s own words')
  })

  await t.test(
    'lines lost to a tool that writes garbage and dies are counted as dropped',
    async (t) => {
      const folder = await makeFolder(t)
      const program = join(folder, 'garbage')
      const count = join(folder, 'runs')
      await writeFile(
        program,
        `#!/bin/sh\necho run >> ${count}\nprintf 'no\\tline\\n\\377\\000\\n'\nhead -c 300000 /dev/zero\necho\nsleep 3\nexit 3\n`,
      )
      await chmod(program, 0o755)
      const reading = startReading(t, cache, { tool: { program } })
      reading.streams.take({ stream: 'garbage', forMs, wanted: everything })
      await eventually('it was restarted', () => reading.dropped() >= 4)
      t.same(reading.ended(), [])
      t.same(reading.of('garbage'), [])
    },
  )

  await t.test(
    'all streams share the bandwidth of a link; each line is sent or counted as dropped',
    async (t) => {
      const folder = await makeFolder(t)
      const program = join(folder, 'busy')
      const lines = 6_000
      const url = `/${'u'.repeat(1_500)}`
      const fields = ['c', '1', '-', 'rxreq', '1700000000.000137', 'GET', url, 'a.example', '200']
      const line = [...fields, '1', '0.001', '100', 'hit', '-', '127.0.0.1'].join('\\t')
      await writeFile(
        program,
        `#!/bin/sh\nsleep 1\nyes "$(printf '${line}')" | head -n ${lines}\nexec sleep 600\n`,
      )
      await chmod(program, 0o755)
      let refused = 0
      const reading = startReading(t, cache, {
        tool: { program },
        isClear: ({ stream }) => stream !== 'stream 0' || refused++ > 0,
      })
      const streams = Array.from({ length: 20 }, (_, at) => `stream ${at}`)
      const startedAtMs = performance.now()
      for (const stream of streams) reading.streams.take({ stream, forMs, wanted: everything })
      await eventually('all lines are accounted for', () => {
        const told = streams.reduce((sum, stream) => sum + reading.of(stream).length, 0)
        return told + reading.dropped() === streams.length * lines
      })
      const seconds = Math.ceil((performance.now() - startedAtMs) / 1000)
      const bytes = Buffer.byteLength(JSON.stringify(reading.messages.filter(isLines)))
      const counts = streams.slice(1).map((stream) => reading.of(stream).length)
      t.ok(bytes > 0 && bytes < 2_200_000 * (seconds + 1), `${bytes} bytes in ${seconds} s`)
      t.ok(reading.messages.length < 200 * (seconds + 1), `${reading.messages.length} messages`)
      t.ok(Math.min(...counts) > 0, `each has its share: ${counts.join(' ')}`)
    },
  )
})
