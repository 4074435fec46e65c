/**
 * One script of commands runs against a simulated engine and a real varnishd 7.1.1, and the replies agree: the status
 * exactly, the text after removing what must differ (times, pids, the real compiler's own line numbers).
 */
import { readFile } from 'node:fs/promises'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createSimulatedEngine } from '../../support/simulated-engine.js'
import { eventually } from '../../support/eventually.js'
import { root } from '../../support/root.js'
import { startVarnishd } from '../../support/varnishd.js'
import { playScenario, writeTranscript } from '../release-scenario.js'
import { answerScript } from './answer-script.js'
import { answer, authenticate, openTcp, RawClient, type RawReply } from './raw-client.js'
import type { Tolerance } from './script-steps.js'

/** As installed, without the settings of other tests. */
const args = ['-p', 'debug=none']

/** Which differences of text are tolerated, and why. The status must always agree. */
const tolerances: Record<
  Tolerance,
  { readonly why: string; readonly take: (body: string) => string }
> = {
  'status-only': { why: 'a panic text, or a folder name with a time in it', take: () => '' },
  compiler: {
    why: 'a simulated engine compiles with a reader of our own, and words of its own',
    take: (body) => body.replace(/^(Message from VCC-compiler:\n)[^]*/, '$1'),
  },
  head: {
    why: 'cut in the middle, a panic, or full of descriptions',
    take: (body) => body.slice(0, 10),
  },
  parameter: {
    why: 'descriptions and their notes are our own, shorter ones',
    take: (body) =>
      body.startsWith('[')
        ? body.replace(/"description": ".*",\n/, '')
        : body.replace(/\n\n[^]*/, '\n'),
  },
  parameters: {
    why: 'as above; the real one is built with, and started with, its own compiler, paths and log size',
    take: (body) =>
      (body.startsWith('[')
        ? body
            .replace(/"description": ".*",\n/g, '')
            .replace(/"(?:default|value)": "exec .*\n/g, '')
        : body
      )
        .split(/(?<=\},)\n|\n(?=\S)/)
        .filter((row) => !/cc_command|cc_warnings|vmod_path|vsl_space|vcl_path/.test(row))
        .map((row) => row.replace(/\s+/g, ' ').trim())
        .join('\n'),
  },
  'newest-ban': {
    why: 'the lurker drops what no object refers to at its own time',
    take: (body) =>
      body.startsWith('[')
        ? body.replace(/(\})[^]*/, '$1')
        : body.split('\n').slice(0, 2).join('\n'),
  },
  probed: {
    why: 'nothing listens for the real probe; a simulated one is always well',
    take: (body) =>
      body
        .replace(/^.*\.p\b.*$/gm, '')
        .replace(/"b\.p": \{[^}]*\}/g, '')
        .replace(/^ .*$/gm, '')
        .replace(/ +/g, ' '),
  },
  builtin: {
    why: 'the built-in VCL is not ours to copy, and the first one of a simulated engine comes from no file',
    take: (body) =>
      (body.split('// VCL.SHOW 1')[0] ?? '').replace(
        /(\/\/ VCL\.SHOW \d+ \d+) [^\n]{1,200}\/boot\.vcl\n/,
        '$1 <vcl.inline>\n',
      ),
  },
  banner: {
    why: 'platform, jail and revision',
    take: (body) => body.replace(/^Linux,.*$/m, '').replace(/revision \w+/, ''),
  },
}

void t.test('a simulated engine answers like the real one', async (t) => {
  const cache = await startVarnishd(t, { args })
  const secret = await readFile(cache.secretFile, 'latin1')
  const real = await openTcp(cache.port)
  const engine = createSimulatedEngine({ secret: Buffer.from(secret, 'latin1') })
  const simulated = new RawClient(engine.connect())
  t.teardown(() => {
    engine.close()
    real.close()
  })
  const greetings = await Promise.all([real, simulated].map((each) => authenticate(each, secret)))
  t.same(
    greetings.map((each) => (each === 'closed' ? each : each.status)),
    [200, 200],
  )
  t.ok(answerScript.length >= 120, `${answerScript.length} commands`)

  for (const { line, tolerate } of answerScript) {
    const replies = await Promise.all([real.ask(line), simulated.ask(line)])
    const [wanted, found] = replies.map((reply) => normalise(reply, tolerate))
    const title = line.length > 100 ? `${line.slice(0, 100)}…` : line
    if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, title)
    if (wanted?.status === 400) await eventually('a new child', () => hasChild(real))
  }
  t.pass('all answered alike')
})

/** The real manager needs a moment to notice; until then vcl.list returns 200 with an empty body. */
async function hasChild(client: RawClient): Promise<boolean> {
  const reply = await client.ask('vcl.list')
  return reply !== 'closed' && reply.status === 200 && reply.body !== ''
}

function normalise(reply: RawReply | 'closed', tolerate: Tolerance | undefined): RawReply {
  if (reply === 'closed') return { status: 0, body: 'closed' }
  const body = reply.body
    .replace(/\b\d{10}\.\d+/g, 'TIME')
    .replace(/PONG \d+/g, 'PONG TIME')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replace(/(Master:|Worker:|"master":|"worker":) +\d+/g, '$1 PID')
  return {
    status: reply.status,
    body: tolerate === undefined ? body : tolerances[tolerate].take(body),
  }
}

/** Lines a client may send first, with `AUTH` in place of the right answer; the whole conversation is compared. */
const conversations: readonly string[] = [
  'ping\n',
  'ping -j\n',
  'help\n',
  'help ping\n',
  'help nosuch\n',
  'help -j\n',
  'quit\nping\n',
  'status\nping\n',
  'nosuch\nping\n',
  'ban req.url ~ a\nping\n',
  'vcl.list\n',
  'auth\nping\n',
  'auth a b\nping\n',
  'auth 0123\nping\n',
  `auth ${'0'.repeat(64)}\nping\n`,
  'Ping\n',
  '-\n',
  'ping "a\nping\n',
  `ping ${'x'.repeat(74)}\nping\n`,
  `ping ${'x'.repeat(75)}ping\n`,
  `ping ${'x'.repeat(76)}ping\nping\n`,
  `${'x'.repeat(200)}\n`,
  'ping << EOF\nping\nEOF\n',
  '\n\r \nping\n',
  'AUTH\nping\nstatus\nquit\nping\n',
  'AUTH\rstatus\r\nquit\r',
  'AUTH\nAUTH\nping\n',
  'AUTH\nauth 12\nping\n',
  'AUTH\nstatus\nping << E\nunfinished',
  'AUTH\nstatus\nping unfinished',
  `AUTH\n${'status\nvcl.list\n'.repeat(200)}`,
]

void t.test('a simulated engine treats unauthenticated clients like the real one', async (t) => {
  const cache = await startVarnishd(t, { args })
  const secret = await readFile(cache.secretFile, 'latin1')
  const engine = createSimulatedEngine({ secret: Buffer.from(secret, 'latin1') })
  t.teardown(() => {
    engine.close()
  })
  for (const conversation of conversations) {
    const clients = [await openTcp(cache.port), new RawClient(engine.connect())]
    const [wanted, found] = await Promise.all(
      clients.map((client) => converse(client, conversation, secret)),
    )
    t.same(found, wanted, JSON.stringify(conversation.slice(0, 60)))
  }
})

void t.test('the real one still answers as recorded', async (t) => {
  const cache = await startVarnishd(t, { secret: null, args })
  const client = await openTcp(cache.port)
  await client.next()
  const recorded = join(root, 'test/fixtures/releases/7.1.1/answers.txt')
  const found = writeTranscript(await playScenario(client))
  t.equal(found, await readFile(recorded, 'latin1'))
  client.close()
})

void t.test('without a secret both begin with the banner', async (t) => {
  const cache = await startVarnishd(t, { secret: null, vcl: null, args })
  const engine = createSimulatedEngine({ bootVcl: null })
  t.teardown(() => {
    engine.close()
  })
  const script =
    'auth 12\nping\nstatus\nstart\nvcl.list\nvcl.list -j\nvcl.deps -j\nhelp\nvcl.use x\nquit\n'
  const clients = [await openTcp(cache.port), new RawClient(engine.connect())]
  const [wanted, found] = await Promise.all(clients.map((client) => converse(client, script, '')))
  t.same(found, wanted)
})

void t.test('the same commands end both managers', async (t) => {
  for (const line of ['vcl.use ""', 'vcl.inline "" x', 'vcl.label "" boot', 'debug.panic.master']) {
    const cache = await startVarnishd(t, { secret: null, args })
    const engine = createSimulatedEngine()
    const clients = [await openTcp(cache.port), new RawClient(engine.connect())]
    for (const client of clients) {
      await client.next()
      t.equal(await client.ask(line), 'closed', line)
    }
    engine.close()
  }
})

/** All characters special to the parser of a line, except `<`: both would wait for a here-document. */
const lineAlphabet = [
  ...'ab "\\\\""nrtvx048-\t\x0b\x01\x7f\x80\xff#\''.split(''),
  ...['\\x41', '\\101', '\\"', '\\\\'],
]

void t.test('both parse any line alike, twice where the child answers', async (t) => {
  const cache = await startVarnishd(t, { secret: null, args })
  const engine = createSimulatedEngine()
  t.teardown(() => {
    engine.close()
  })
  const clients = [await openTcp(cache.port), new RawClient(engine.connect())]
  for (const client of clients) await client.next()
  const words = fc.array(fc.constantFrom(...lineAlphabet), { maxLength: 20 })

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('vcl.show ', 'param.reset ', '-', 'x'),
      words,
      async (name, tail) => {
        const line = `${name}${tail.join('')}`
        // One by one: a burst of two lines would cost the real one 40 ms (management-protocol: 9).
        const tolerance = name === 'vcl.show ' ? 'builtin' : undefined // the line may contain -v
        const replies = clients.map(async (client) => normalise(await client.ask(line), tolerance))
        const [wanted, found] = await Promise.all(replies)
        assert.deepEqual(found, wanted)
      },
    ),
    { numRuns: 2000, examples: [['vcl.show ', ['-', 'v']]] },
  )
  t.pass()
})

/** Sends everything at once, closes the sending side, and returns all replies until the other side closes. */
async function converse(client: RawClient, conversation: string, secret: string): Promise<string> {
  const greeting = await client.next()
  if (greeting === 'closed') return greeting
  client.write(conversation.replaceAll('AUTH', answer(greeting.body, secret)))
  client.stream.end()
  const replies: unknown[] = []
  for (let reply = await client.next(); reply !== 'closed'; reply = await client.next())
    replies.push(normalise(reply, reply.body.startsWith('-----') ? 'banner' : undefined))
  return JSON.stringify({ greeting: greeting.status, replies, rest: client.rest }, null, 1)
}
