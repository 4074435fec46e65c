/** The management port of a simulated engine: bursts, blocking, secrets, listening and dialling out. */
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { load, open, pause, start } from './open-engine.js'
import { answer, authenticate, openTcp, RawClient } from './raw-client.js'

void t.test('commands of a burst are answered in order', async (t) => {
  const client = await open(start(t))

  client.write('ping\nstatus\nban req.url ~ a\nnosuch\n'.repeat(100))

  for (let round = 0; round < 100; round++) {
    const replies = [
      await client.next(),
      await client.next(),
      await client.next(),
      await client.next(),
    ]
    t.same(
      replies.map((reply) => (reply === 'closed' ? reply : reply.status)),
      [200, 200, 200, 101],
    )
  }
})

void t.test('a compile blocks all connections of its engine, and no other engine', async (t) => {
  const engine = start(t, { compileMs: 300 })
  const other = await open(start(t))
  const [loader, bystander] = [await open(engine), await open(engine)]
  const order: string[] = []

  const loaded = loader.ask(load('a')).then(() => order.push('loaded'))
  await pause()
  const pinged = bystander.ask('ping').then(() => order.push('pinged'))
  const greeted = open(engine).then(() => order.push('greeted'))
  const elsewhere = other.ask('ping').then(() => order.push('elsewhere'))

  await Promise.all([loaded, pinged, greeted, elsewhere])
  t.same(order.slice(0, 2), ['elsewhere', 'loaded'])
})

void t.test('a refused compile takes no time', async (t) => {
  const client = await open(start(t, { compileMs: 3_600_000 }))

  t.match(await client.ask('vcl.inline a nonsense'), { status: 106 })
})

void t.test('a load continues when its client is gone', async (t) => {
  const engine = start(t, { compileMs: 50 })
  const loader = await open(engine)
  loader.write(`${load('a')}\n`)
  await pause()
  loader.close()

  const client = await open(engine)
  t.match(await client.ask('vcl.use a'), { status: 200 })
})

void t.test(
  'a client that does not read blocks the manager for all until it reads or disconnects',
  async (t) => {
    const engine = start(t)
    const deaf = engine.connect()
    deaf.write('param.show -j\n'.repeat(400))
    for (let turn = 0; turn < 5; turn++) await pause()
    const bystander = new RawClient(engine.connect())
    let isAnswered = false
    const greeting = bystander.next().then(() => {
      isAnswered = true
    })
    for (let turn = 0; turn < 20; turn++) await pause()
    t.notOk(isAnswered)

    deaf.destroy()
    await greeting
    t.match(await bystander.ask('ping'), { status: 200 })
  },
)

void t.test('the secret is checked at each attempt', async (t) => {
  const engine = start(t, { secret: Buffer.from('old\n') })
  const first = new RawClient(engine.connect())
  const challenge = await first.next()
  if (challenge === 'closed') throw new Error('no challenge')

  engine.setSecret(Buffer.from('new\n'))
  t.same(await first.ask(answer(challenge.body, 'old\n')), { status: 500, body: '' })
  await first.waitForEnd()
  t.match(await authenticate(new RawClient(engine.connect()), 'new\n'), { status: 200 })
  t.match(
    await authenticate(new RawClient(engine.connect()), 'new'),
    { status: 500 },
    'every byte counts',
  )
  engine.setSecret('missing')
  t.same(await authenticate(new RawClient(engine.connect()), 'new\n'), {
    status: 300,
    body: 'Cannot open secret file (No such file or directory)\n',
  })
})

void t.test('the engine listens on TCP and stops', async (t) => {
  const engine = start(t)
  const listening = await engine.listen()
  const client = await openTcp(listening.port)
  t.match(await client.next(), { status: 200 })
  t.match(await client.ask('ping'), { status: 200 })

  await listening.close()
  await client.waitForEnd()
  const refused = new RawClient(connect(listening.port, '127.0.0.1'))
  await refused.waitForEnd()
  t.equal(refused.rest, '')
  const again = await engine.listen('127.0.0.1', listening.port)
  t.match(await (await openTcp(again.port)).next(), { status: 200 })
})

void t.test('in reverse mode the engine dials, challenges first, and redials', async (t) => {
  const engine = start(t, { secret: Buffer.from('s') })
  const clients: RawClient[] = []
  const server = createServer((socket) => clients.push(new RawClient(socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')

  const dialer = engine.dialOut('127.0.0.1', address.port)
  t.teardown(() => {
    dialer.close()
  })
  const first = await eventually('it connects', () => clients[0])
  t.match(await authenticate(first, 's'), { status: 200 })
  t.match(await first.ask('quit'), { status: 500 })
  first.close()
  const second = await eventually('it connects again', () => clients[1])
  t.match(await second.next(), { status: 107 })
  second.close()
})

void t.test('the journal keeps the last lines, without the answer to the challenge', async (t) => {
  const engine = start(t, { secret: Buffer.from('s'), journalLines: 3 })
  const client = new RawClient(engine.connect())
  await authenticate(client, 's')
  t.same(engine.journal, ['auth'])
  await client.ask('ping')
  await client.ask(`vcl.inline a << Eof\nvcl 4.1; backend default none;\nEof`)
  await client.ask('ban req.url ~ \xc3\xa4')

  t.same(engine.journal, ['ping', 'vcl.inline a << Eof', 'ban req.url ~ ä'])
})
