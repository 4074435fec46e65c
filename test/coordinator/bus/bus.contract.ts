/** What every bus must do: clone values, deliver asynchronously and at most once, and end a request with one answer or error. */
import type { Test } from 'tap'
import { Type } from 'typebox'
import {
  hintSubject,
  requestSubject,
  uncheckedSubject,
  type Bus,
} from '../../../src/coordinator/bus/bus.js'
import { FleetError } from '../../../src/errors.js'
import { eventually } from '../../support/eventually.js'

interface BusFactory {
  /** Two ends of one bus, in two processes or the same one twice; closed when the test ends. */
  open(t: Test): Promise<{ readonly here: Bus; readonly there: Bus }>
}

const longMs = 20_000

export function busContract(t: Test, factory: BusFactory): void {
  void t.test('delivers every message of a subject to every subscriber, in order', async (t) => {
    const { here, there } = await factory.open(t)
    const seen: unknown[][] = [[], [], []]
    here.subscribe(uncheckedSubject('a'), (value) => seen[0]?.push(value))
    there.subscribe(uncheckedSubject('a'), (value) => seen[1]?.push(value))
    there.subscribe(uncheckedSubject('a.b'), (value) => seen[2]?.push(value))
    await listening(here, there)

    for (let at = 0; at < 100; at++) here.publish(uncheckedSubject('a'), { at })
    there.publish(uncheckedSubject('a.b'), null)

    const all = Array.from({ length: 100 }, (_, at) => ({ at }))
    await eventually('all arrived', () => seen.flat().length === 201)
    t.strictSame(seen, [all, all, [null]])
  })

  void t.test('delivers asynchronously, a separate copy to each subscriber', async (t) => {
    const { here, there } = await factory.open(t)
    const seen: unknown[] = []
    const value = { list: [1] }
    for (const bus of [here, there])
      bus.subscribe(uncheckedSubject('copy'), (received) => {
        seen.push(structuredClone(received))
        ;(received as typeof value).list.push(2) // the published value
      })
    await listening(here, there)

    here.publish(uncheckedSubject('copy'), value)
    t.strictSame(seen, [], 'publish delivers nothing synchronously')
    value.list.push(3)

    await eventually('both arrived', () => seen.length === 2)
    t.strictSame(seen, [{ list: [1] }, { list: [1] }])
    t.strictSame(value, { list: [1, 3] })
  })

  void t.test('a closed subscription receives nothing more, other subscriptions do', async (t) => {
    const { here, there } = await factory.open(t)
    let closedSaw = 0
    let otherSaw = 0
    const subscription = there.subscribe(uncheckedSubject('x'), () => closedSaw++)
    there.subscribe(uncheckedSubject('x'), () => otherSaw++)
    await listening(here, there)

    here.publish(uncheckedSubject('x'), 1)
    await eventually('both received the first', () => closedSaw === 1 && otherSaw === 1)
    subscription.close()
    subscription.close()
    here.publish(uncheckedSubject('x'), 2)

    await eventually('the other received the second', () => otherSaw === 2)
    t.equal(closedSaw, 1)
  })

  void t.test('values that do not match their subject are dropped or refused', async (t) => {
    const { here, there } = await factory.open(t)
    const seen: unknown[] = []
    there.subscribe(hintSubject('fits', Type.Object({ n: Type.Integer() })), (value) =>
      seen.push(value),
    )
    const count = requestSubject('count', Type.Object({ n: Type.Integer() }), Type.Integer())
    there.respond(count, ({ n }) => Promise.resolve(n / 2))
    await listening(here, there)

    for (const value of [null, {}, { n: 'x' }, { n: 1, newer: true }])
      here.publish(uncheckedSubject('fits'), value)

    await eventually('one arrived', () => seen.length === 1)
    t.strictSame(seen, [{ n: 1, newer: true }])
    t.equal(await here.request(count, { n: 4 }, longMs), 2)
    const isRefused = { name: 'FleetError', kind: 'unavailable', message: /form/ }
    await t.rejects(here.request(uncheckedSubject('count'), { n: 'x' }, longMs), isRefused)
    await t.rejects(here.request(count, { n: 3 }, longMs), isRefused)
  })

  void t.test('carries many concurrent requests to a responder and the answers back', async (t) => {
    const { here, there } = await factory.open(t)
    there.respond(uncheckedSubject('double'), async (value) => {
      await new Promise((resume) => setImmediate(resume))
      return { twice: (value as { n: number }).n * 2 } // the request below
    })
    await listening(here, there)

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => here.request(uncheckedSubject('double'), { n }, longMs)),
    )

    t.strictSame(
      answers,
      Array.from({ length: 50 }, (_, n) => ({ twice: n * 2 })),
    )
  })

  void t.test('a request and its answer are copied as well', async (t) => {
    const { here, there } = await factory.open(t)
    const kept = { list: [1] }
    there.respond(uncheckedSubject('kept'), (value) => {
      ;(value as { list: number[] }).list.push(9) // the request below
      return Promise.resolve(kept)
    })
    await listening(here, there)
    const asked = { list: [5] }

    const answer = (await here.request(uncheckedSubject('kept'), asked, longMs)) as typeof kept
    answer.list.push(2)

    t.strictSame([asked, kept], [{ list: [5] }, { list: [1] }])
  })

  void t.test('bytes of a request and of its answer arrive unchanged', async (t) => {
    const { here, there } = await factory.open(t)
    there.respond(uncheckedSubject('bytes'), (value) => {
      const { bytes, ...rest } = value as { bytes: Buffer } // the request below
      return Promise.resolve({ ...rest, bytes: Buffer.concat([bytes, bytes]) })
    })
    there.respond(uncheckedSubject('bare'), () => Promise.resolve({ bytes: Buffer.alloc(0) }))
    await listening(here, there)
    // More than one message of a network bus holds, and not valid text.
    const bytes = Buffer.from(Array.from({ length: 3 << 20 }, (_, at) => (at * 7) % 256))

    const answer = (await here.request(
      uncheckedSubject('bytes'),
      { n: 1, text: 'ä', bytes },
      longMs,
    )) as {
      n: number
      text: string
      bytes: Buffer
    }
    const bare = (await here.request(uncheckedSubject('bare'), { n: 1 }, longMs)) as {
      bytes: Buffer
    }

    t.match([answer.n, answer.text], [1, 'ä'])
    t.ok(Buffer.isBuffer(answer.bytes))
    t.ok(answer.bytes.equals(Buffer.concat([bytes, bytes])))
    t.ok(Buffer.isBuffer(bare.bytes) && bare.bytes.length === 0, 'an empty buffer arrives empty')
  })

  void t.test('a request fails with the error of its responder', async (t) => {
    const { here, there } = await factory.open(t)
    const refusal = new FleetError('locked', 'agent', 'it takes another word', {
      retryAfterSeconds: 7,
    })
    there.respond(uncheckedSubject('refuse'), () => Promise.reject(refusal))
    await listening(here, there)

    await t.rejects(here.request(uncheckedSubject('refuse'), {}, longMs), {
      name: 'FleetError',
      kind: 'locked',
      errorKey: 'agent',
      message: 'it takes another word',
      retryAfterSeconds: 7,
    })
  })

  void t.test('a request without a responder fails at once as unavailable', async (t) => {
    const { here, there } = await factory.open(t)
    const subscription = there.respond(uncheckedSubject('gone'), () => Promise.resolve(1))
    await listening(here, there)
    t.equal(await here.request(uncheckedSubject('gone'), {}, longMs), 1)
    subscription.close()

    await t.rejects(here.request(uncheckedSubject('nobody'), {}, longMs), {
      name: 'FleetError',
      kind: 'unavailable',
    })
    await eventually('the responder is gone', async () => {
      const error = await here
        .request(uncheckedSubject('gone'), {}, longMs)
        .catch((caught: unknown) => caught)
      return error instanceof FleetError && error.kind === 'unavailable'
    })
    there.respond(uncheckedSubject('gone'), () => Promise.resolve(2))
    await listening(here, there)
    t.equal(
      await here.request(uncheckedSubject('gone'), {}, longMs),
      2,
      'a subject may get a new responder',
    )
  })

  void t.test('a request times out when its answer comes too late', async (t) => {
    const { here, there } = await factory.open(t)
    let answer: (value: unknown) => void = () => undefined
    there.respond(uncheckedSubject('slow'), () => new Promise((resolve) => (answer = resolve)))
    await listening(here, there)

    await t.rejects(here.request(uncheckedSubject('slow'), {}, 30), {
      kind: 'timed-out',
      message: /30 ms/,
    })

    answer('late')
    await listening(here, there)
  })

  void t.test('close ends waiting requests, and check fails afterwards', async (t) => {
    const { here, there } = await factory.open(t)
    let asked = false
    there.respond(uncheckedSubject('never'), () => {
      asked = true
      return new Promise(() => undefined)
    })
    await listening(here, there)
    await here.check()
    const waiting = here.request(uncheckedSubject('never'), {}, longMs)
    const ended = t.rejects(waiting, { name: 'FleetError', kind: 'unavailable' })
    await eventually('the responder was called', () => asked)

    await here.close()

    await ended
    await t.rejects(here.check(), { name: 'FleetError', kind: 'unavailable' })
    await t.rejects(here.request(uncheckedSubject('never'), {}, longMs), {
      name: 'FleetError',
      kind: 'unavailable',
    })
    here.publish(uncheckedSubject('never'), 'nobody minds')
    await here.close()
  })
}

/** On a network bus a subscription takes effect when the server has received it. */
async function listening(...buses: readonly Bus[]): Promise<void> {
  for (const bus of buses) await bus.check()
}
