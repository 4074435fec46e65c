/** Each fault of the simulated engine, as a client sees it on the wire. */
import t from 'tap'
import { faultNames } from '../../../protocol/simulator/faults.js'
import { eventually } from '../../support/eventually.js'
import { load, open, pause, start } from './open-engine.js'
import { authenticate, RawClient } from './raw-client.js'

void t.test('faults of replies', async (t) => {
  /** What a client sees of `vcl.list` and the `ping` after it, and whether the connection stays open. */
  // A list of one program is 40 bytes long.
  const seen: Record<string, RegExp> = {
    'wrong-status': /^299 40 {6}\nactive [^]*200 /,
    'garbled-header': /^HTTP\/1\.1 200 OK/,
    'half-header': /^200 40$/,
    'half-body': /^200 40 {6}\nactive.{14}$/,
    'huge-length': /^200 99999999\nactive [^]{34}$/,
    'close-in-mid-reply': /^200 40 {6}\nactive.{14}CLOSED$/,
    'close-before-reply': /^CLOSED$/,
    'close-before-command': /^CLOSED$/,
    'truncated-reply': /^201 20 {6}\nactive.{14}\n200 /,
    'extra-reply': /^(200 40 {6}\nactive [^\n]*\n\n){2}200 /,
    'empty-list': /^200 0 {7}\n\n200 /,
    'child-death': /^400 29 {6}\nCLI communication error \(hdr\)\n200 /,
    'manager-death': /^CLOSED$/,
  }
  for (const [name, pattern] of Object.entries(seen)) {
    const fault = faultNames.find((known) => known === name)
    if (fault === undefined) throw new Error(`no fault ${name}`)
    const engine = start(t)
    const client = await open(engine)
    engine.setFault(fault, { onCommand: 'vcl.list', times: 1 })
    client.write('vcl.list\nping\n')
    await eventually(name, () => {
      const heard = client.rest + (client.hasEnded ? 'CLOSED' : '')
      return pattern.test(heard) || (client.hasEnded && t.fail(`${name}: ${heard}`))
    })
    const after = await open(engine)
    t.match(await after.ask('ping'), { status: 200 }, `${name} is over`)
  }
})

void t.test('faults of connections', async (t) => {
  const secret = Buffer.from('s')
  const engine = start(t, { secret })

  engine.setFault('no-challenge', { times: 1 })
  const silent = new RawClient(engine.connect())
  silent.write('ping\n')
  t.match(
    await authenticate(new RawClient(engine.connect()), 's'),
    { status: 200 },
    'the next connection is greeted',
  )
  t.equal(silent.rest, '')

  engine.setFault('auth-refused')
  t.match(await authenticate(new RawClient(engine.connect()), 's'), { status: 500 })
  engine.setFault(null)
  t.match(await authenticate(new RawClient(engine.connect()), 's'), { status: 200 })
})

void t.test('a frozen engine answers no client, and continues where it stopped', async (t) => {
  const engine = start(t)
  const client = await open(engine)

  engine.setFault('frozen', { afterCommands: 1, onCommand: 'ping' })
  client.write('ping\nping\nstatus\n')
  t.match(await client.next(), { body: /PONG/ })
  const late = new RawClient(engine.connect())
  for (let turn = 0; turn < 10; turn++) await pause()
  t.equal(client.rest + late.rest, '')

  engine.setFault(null)
  t.match(await client.next(), { body: /PONG/ })
  t.match(await client.next(), { body: /state/ })
  t.match(await late.next(), { status: 200 })

  engine.setFault('frozen')
  client.write('ping\n')
  for (let turn = 0; turn < 10; turn++) await pause()
  t.equal(client.rest, '')
  engine.setFault(null)
  t.match(await client.next(), { body: /PONG/ })
})

void t.test('faults of loading', async (t) => {
  const engine = start(t)
  const client = await open(engine)

  engine.setFault('compile-error')
  t.match(await client.ask(load('a')), { status: 106, body: /^Message from VCC-compiler:\n/ })
  t.match(await client.ask('ping'), { status: 200 })

  const before = engine.childPid
  engine.setFault('child-death-on-load')
  t.match(await client.ask(load('a')), { status: 400 })
  t.not(engine.childPid, before)
  engine.setFault('slow-compile', { delayMs: 3_600_000 })
  const blocked = await open(engine)
  blocked.write(`${load('a')}\n`)
  for (let turn = 0; turn < 10; turn++) await pause()
  client.write('ping\n')
  for (let turn = 0; turn < 10; turn++) await pause()
  t.equal(client.rest + blocked.rest, '', 'the engine compiles for an hour')
})

void t.test('a fault waits for its command, and occurs the given number of times', async (t) => {
  const engine = start(t)
  const client = await open(engine)

  engine.setFault('truncated-reply', { onCommand: 'ping', afterCommands: 2, times: 2 })
  const statuses: (number | string)[] = []
  for (const line of ['ping', 'status', 'ping', 'status', 'ping', 'ping', 'ping']) {
    const reply = await client.ask(line)
    statuses.push(reply === 'closed' ? reply : reply.status)
  }

  t.same(statuses, [200, 200, 200, 200, 201, 201, 200])
})
