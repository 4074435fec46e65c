/** Behaviour of a simulated engine that no single reply shows: what is lost when, what goes cold, where releases differ. */
import t from 'tap'
import { createSimulatedEngine } from '../../support/simulated-engine.js'
import { load, open, start } from './open-engine.js'
import type { RawClient } from './raw-client.js'

void t.test(
  'a child restart keeps programs and parameters, and loses bans and health overrides',
  async (t) => {
    const engine = start(t)
    const client = await open(engine)
    for (const line of [
      load('a'),
      'vcl.label l a',
      'vcl.use a',
      'param.set default_ttl 7',
      'ban req.url ~ a',
      'backend.set_health default sick',
    ])
      t.match(await client.ask(line), { status: 200 }, line)
    const before = engine.childPid

    t.ok(engine.killChild({ panic: true }))

    t.not(engine.childPid, before)
    t.match(await client.ask('panic.show'), { status: 200, body: /^Panic at: / })
    t.match(await client.ask('vcl.list'), {
      body: /active .* a +<- +\(1 label\)\n(.*\n)*.* l +-> +a/,
    })
    t.match(await client.ask('param.show default_ttl'), { body: /Value is: 7\.000/ })
    t.notMatch(await client.ask('ban.list'), { body: /req\.url/ })
    t.match(await client.ask('backend.list'), { body: /a\.default +healthy/ })
  },
)

void t.test('without auto_restart a dead child stays stopped', async (t) => {
  const engine = start(t)
  const client = await open(engine)
  await client.ask('param.set auto_restart off')

  engine.killChild()

  t.match(await client.ask('status'), { body: 'Child in state stopped' })
  t.match(await client.ask('ban.list'), { status: 101 })
  t.notOk(engine.killChild())
  t.match(await client.ask('start'), { status: 200 })
})

void t.test('a restart of the manager closes all connections and forgets everything', async (t) => {
  const engine = start(t)
  const client = await open(engine)
  await client.ask(load('a'))
  await client.ask('param.set default_ttl 7')
  const before = engine.masterPid

  engine.restartManager()

  await client.waitForEnd()
  t.equal(client.rest, '', 'without a message')
  t.not(engine.masterPid, before)
  const again = await open(engine)
  t.match(await again.ask('vcl.list'), { body: /^active .*boot\n$/ })
  t.match(await again.ask('param.show changed'), { body: '' })
})

void t.test('an empty program name kills the manager', async (t) => {
  const engine = start(t)
  const before = engine.masterPid

  t.equal(await (await open(engine)).ask('vcl.use ""'), 'closed')
  t.not(engine.masterPid, before)
})

void t.test('an unused program goes cold, and warms up when used', async (t) => {
  let nowMs = Date.UTC(2026, 0, 1)
  const client = await open(start(t, { clock: () => nowMs }))
  await client.ask(load('a'))
  await client.ask(load('labelled'))
  await client.ask('vcl.label l labelled')
  await client.ask('param.set vcl_cooldown 60')

  nowMs += 59_000
  t.match(await client.ask('vcl.list'), { body: /auto +warm +0 +a\n/ })
  nowMs += 2_000
  t.match(await client.ask('vcl.list'), { body: /auto +cold +0 +a\n/ })
  t.match(await client.ask('vcl.list'), { body: /auto +warm +0 +labelled/ })
  await client.ask('vcl.use a')
  t.match(await client.ask('vcl.list'), { body: /active +auto +warm +0 +a\n/ })
  nowMs += 61_000
  t.match(await client.ask('vcl.list'), { body: /available +auto +cold +0 +boot\n/ })
})

void t.test('a discarded program can linger under a name that is used again', async (t) => {
  const engine = start(t, { keepsDiscarded: true })
  const client = await open(engine)
  for (const line of [load('a'), 'vcl.use a', 'vcl.use boot', 'vcl.discard a', load('a')])
    t.match(await client.ask(line), { status: 200 }, line)

  t.match(await client.ask('vcl.list'), {
    body: /discarded +cold +busy +1 +a\n(.*\n)*available +auto +warm +0 +a\n/,
  })
  t.match(await client.ask('vcl.deps'), { body: 'boot\na\n' })
  engine.killChild()
  t.notMatch(await client.ask('vcl.list'), { body: /discarded/ })
})

void t.test('probed backends have the health set by the test', async (t) => {
  const engine = start(t)
  const client = await open(engine)
  const probed = 'vcl 4.1; backend p { .host = \\"h\\"; .probe = { .url = \\"/\\"; } }'
  await client.ask(`vcl.inline a "${probed}"`)

  t.match(await client.ask('backend.list a.*'), { body: /a\.p +probe +8\/8 +healthy/ })
  engine.setProbes('sick')
  t.match(await client.ask('backend.list -j a.*'), { body: /"probe_message": \[0, 8, "sick"\]/ })
})

void t.test('blocks may be nested 100 deep, and no deeper', async (t) => {
  const client = await open(start(t))
  const nest = (depth: number) =>
    `vcl 4.1; backend default none; sub vcl_recv { ${'if (req.url) {'.repeat(depth - 1)}${'}'.repeat(depth - 1)} }`

  t.match(await client.ask(`vcl.inline a << Eof\n${nest(100)}\nEof`), { status: 200 })
  t.match(await client.ask(`vcl.inline b << Eof\n${nest(101)}\nEof`), {
    status: 106,
    body: /Blocks nested deeper than 100\n\('<vcl\.inline>' Line 1 Pos \d+\)/,
  })
  t.match(await client.ask(`vcl.inline c << Eof\n${nest(20_000)}\nEof`), { status: 106 })
  const parentheses = `vcl 4.1; backend default none; sub vcl_recv { if (${'('.repeat(20_000)} }`
  t.match(await client.ask(`vcl.inline d << Eof\n${parentheses}\nEof`), { status: 106 })
})

void t.test('other releases differ where they are known to', async (t) => {
  const oldest = await open(start(t, { version: '6.0.16' }))
  t.match(await oldest.ask('ping "a" "b"'), { status: 105 }, 'adjacent quoted words are two words')
  t.match(await oldest.ask('vcl.list'), { body: /^active +auto\/warm +0 boot\n$/ })
  t.match(await oldest.ask('vcl.list -j'), { status: 200 })
  t.match(await oldest.ask('backend.list -j'), { status: 102 })
  t.match(await oldest.ask('vcl.deps'), { status: 101 })
  t.match(await oldest.ask('vcl.discard a b'), { status: 105 })
  t.match(await oldest.ask('param.show cli_limit'), { body: /Value is: 64k/ })
  t.match(await oldest.ask('banner'), { body: /varnish-6\.0\.16 revision/ })

  const newest = await open(start(t, { version: '7.7.3' }))
  t.match(await newest.ask('ping \\q'), {
    status: 100,
    body: 'Syntax Error: Invalid backslash sequence\n',
  })
  t.match(await newest.ask('Ping'), { status: 101, body: 'All commands are in lower-case.\n' })
  t.match(await newest.ask('ping "a" "b"'), { status: 105 })
  t.match(await newest.ask('ping "a""b"'), { status: 100 })
  t.match(await newest.ask('param.reset -j default_ttl'), { status: 200, body: /^\[ 2,/ })
  t.throws(() => createSimulatedEngine({ version: 'new' }), {
    message: /expected one like 7\.1\.1/,
  })
})

void t.test('protected parameters cannot be set', async (t) => {
  const client = await open(start(t, { protectedParams: ['cc_command'] }))

  t.match(await client.ask('param.set cc_command x'), { status: 107, body: /is protected/ })
})

void t.test('thousands of engines fit in one process', async (t) => {
  const clients: RawClient[] = []
  for (let each = 0; each < 2000; each++) clients.push(await open(start(t)))

  const replies = await Promise.all(clients.map((client) => client.ask('vcl.list')))

  t.ok(replies.every((reply) => reply !== 'closed' && reply.status === 200))
})
