/** The bus over NATS: the bus contract, and cases that only a server has: outages, a limit of message size, several fleets. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { uncheckedSubject, type Bus } from '../../../src/coordinator/bus/bus.js'
import { readServers } from '../../../src/coordinator/bus/nats-servers.js'
import { openBus } from '../../../src/coordinator/bus/open-bus.js'
import { FleetError } from '../../../src/errors.js'
import { eventually } from '../../support/eventually.js'
import { startNats } from '../../support/nats.js'
import { busContract } from './bus.contract.js'

const longMs = 20_000
const server = await startNats(t)
let fleets = 0

async function open(t: Test, fleet: string, url = server.url): Promise<Bus> {
  const bus = await openBus(url, fleet, pino({ level: 'silent' }))
  t.teardown(() => bus.close())
  return bus
}

async function openPair(t: Test): Promise<{ readonly here: Bus; readonly there: Bus }> {
  const fleet = `fleet-${++fleets}`
  return { here: await open(t, fleet), there: await open(t, fleet) }
}

void t.test('two connections meet the bus contract', (t) => {
  busContract(t, { open: openPair })
  t.end()
})

void t.test('one connection meets the bus contract', (t) => {
  busContract(t, {
    open: async (t) => {
      const bus = await open(t, `fleet-${++fleets}`)
      return { here: bus, there: bus }
    },
  })
  t.end()
})

void t.test('a fleet receives no messages of another fleet on the same server', async (t) => {
  const [here, other] = [await open(t, 'ours'), await open(t, 'theirs')]
  const heard: unknown[] = []
  other.subscribe(uncheckedSubject('a'), (value) => heard.push(value))
  other.respond(uncheckedSubject('a'), () => Promise.resolve('theirs'))
  await other.check()

  here.publish(uncheckedSubject('a'), 1)
  await t.rejects(here.request(uncheckedSubject('a'), null, longMs), {
    name: 'FleetError',
    kind: 'unavailable',
    errorKey: 'agent',
  })
  await Promise.all([here.check(), other.check()])

  t.strictSame(heard, [])
})

void t.test('carries values far larger than a message in both directions', async (t) => {
  const { here, there } = await openPair(t)
  there.respond(uncheckedSubject('echo'), (value) => Promise.resolve(value))
  await there.check()
  // Multi-byte characters, so that part boundaries cut through them.
  const large = { text: 'größer, 大きい '.repeat(200_000) }

  const answers = await Promise.all(
    [1, 2].map(() => here.request(uncheckedSubject('echo'), large, longMs)),
  )

  t.ok(answers.every((answer) => JSON.stringify(answer) === JSON.stringify(large)))
})

void t.test('too large answers are refused, and too large hints are dropped', async (t) => {
  const { here, there } = await openPair(t)
  const tooLarge = 'x'.repeat(73 << 20)
  let heard = 0
  there.respond(uncheckedSubject('any'), () => Promise.resolve(tooLarge))
  there.subscribe(uncheckedSubject('hint'), () => heard++)
  await there.check()

  await t.rejects(here.request(uncheckedSubject('any'), null, longMs), {
    name: 'FleetError',
    kind: 'too-large',
  })
  here.publish(uncheckedSubject('hint'), 'y'.repeat(2 << 20))
  here.publish(uncheckedSubject('hint'), 'small')

  await eventually('the small one arrived', () => heard === 1)
})

void t.test('an unexpected error of a responder is logged but not sent back', async (t) => {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  const here = await open(t, 'broken')
  const there = await openBus(server.url, 'broken', log)
  t.teardown(() => there.close())
  there.respond(uncheckedSubject('break'), () => Promise.reject(new TypeError('of an inner part')))
  await there.check()

  const error = await here
    .request(uncheckedSubject('break'), null, longMs)
    .catch((caught: unknown) => caught)

  t.notOk(error instanceof FleetError)
  t.match(error, { message: /in another coordinator/ })
  t.match(lines.join(), /of an inner part/)
})

void t.test('a server outage separates processes, not the two ends within one', async (t) => {
  const own = await startNats(t)
  const [here, there] = [await open(t, 'parted', own.url), await open(t, 'parted', own.url)]
  const heard: unknown[] = []
  here.subscribe(uncheckedSubject('news'), (value) => heard.push(`here ${String(value)}`))
  there.subscribe(uncheckedSubject('news'), (value) => heard.push(`there ${String(value)}`))
  here.respond(uncheckedSubject('mine'), () => Promise.resolve('mine'))
  let asked = 0
  there.respond(uncheckedSubject('theirs'), () => {
    asked += 1
    return asked > 1 ? Promise.resolve('theirs') : new Promise(() => undefined)
  })
  await Promise.all([here.check(), there.check()])
  const waiting = t.rejects(here.request(uncheckedSubject('theirs'), null, longMs), {
    name: 'FleetError',
    kind: 'unavailable',
    errorKey: 'store',
  })
  await eventually('the responder was called', () => asked === 1)

  await own.stop()

  await waiting
  await t.rejects(here.check(), { name: 'FleetError', kind: 'unavailable', errorKey: 'store' })
  await t.rejects(here.request(uncheckedSubject('theirs'), null, longMs), {
    name: 'FleetError',
    kind: 'unavailable',
    errorKey: 'store',
  })
  t.equal(await here.request(uncheckedSubject('mine'), null, longMs), 'mine')
  here.publish(uncheckedSubject('news'), 'while away')
  await eventually('received here', () => heard.length === 1)

  await own.start()
  await eventually('both are back', () => Promise.all([here.check(), there.check()]))
  here.publish(uncheckedSubject('news'), 'again')
  await eventually('received there', () => heard.includes('there again'))
  t.strictSame(heard.toSorted(), ['here again', 'here while away', 'there again'])
  t.equal(await here.request(uncheckedSubject('theirs'), null, longMs), 'theirs')
})

void t.test('credentials are used but never appear in errors or logs', async (t) => {
  const own = await startNats(t, ['--user', 'fleet', '--pass', 'se/cret'])
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const url = `nats://fleet:se%2Fcret@127.0.0.1:${own.port}`

  const bus = await openBus(url, 'secret', log)
  t.teardown(() => bus.close())
  await bus.check()
  await own.stop()
  await eventually('the outage is logged', () => lines.length > 0)

  const refused = await openBus(url.replace('cret', 'wrong'), 'secret', log).catch(
    (error: unknown) => error,
  )
  await own.start()
  const wrong = await openBus(url.replace('cret', 'wrong'), 'secret', log).catch(
    (error: unknown) => error,
  )
  for (const error of [refused, wrong]) {
    t.match(error, { kind: 'unavailable', message: /^the bus does not answer: / })
    t.notMatch(String(error), /cret|wrong/)
  }
  t.notMatch(lines.join(), /cret|wrong/)
})

void t.test('reads servers and credentials from URLs, and refuses other URLs', async (t) => {
  t.strictSame(readServers(['nats://a', 'nats://us%40er:p%3A@b:4333']), {
    servers: ['a:4222', 'b:4333'],
    user: 'us@er',
    pass: 'p:',
  })
  t.strictSame(readServers(['tls://token@a:1']), { servers: ['a:1'], token: 'token', tls: {} })
  const log = pino({ level: 'silent' })
  for (const url of ['', 'redis://a:secret@b', 'nats:', 'nats://a,http://b'])
    await t.rejects(openBus(url, 'x', log), { kind: 'invalid', message: /^(?!.*secret)/ })
})
