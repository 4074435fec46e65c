/** Delivery of events to webhooks over real sockets, whatever happens on either side. */
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import type { WebhookDelivery } from '../../../src/resources/webhook.js'
import { eventually } from '../../support/eventually.js'
import { startPostgres } from '../../support/postgres.js'
import { idOf } from '../identity/people.js'
import { ok, startReceiver, type Answer, type Receiver } from './receiver.js'
import {
  addWebhook,
  makeEvents,
  numbered,
  readDeliveries,
  secret,
  startScene,
  type Scene,
} from './scene.js'

const namesOf = ({ received }: Receiver): unknown[] => received.map(({ data }) => data['name'])
const without = (names: readonly unknown[]): unknown[] => [...new Set(names)]

void t.test('webhooks', async (t) => {
  const scene = await startScene(t)
  await t.test('authorized webhooks get signed events in order', (t) => areSigned(t, scene))
  for (const [what, answer] of faults)
    await t.test(`${what}: it is tried again, in order, with the same id`, (t) =>
      isTriedAgain(t, scene, answer),
    )
  for (const [what, answer, row] of oddAnswers)
    await t.test(`${what} is as good as its status`, (t) => isJudged(t, scene, { answer, row }))
  await t.test('a redirect is not followed', (t) => isNotFollowed(t, scene))
  await t.test('a hanging webhook delays no other', (t) => keepsNoneWaiting(t, scene))
  await t.test('a restarted coordinator continues where it stopped', (t) => goesOn(t, scene))
  await t.test('a test returns the result of its delivery', (t) => isTested(t, scene))
  await t.test('subscribing to a type needs read permission', (t) => isRefused(t, scene))
  // Last: the system administrator's session has expired by then.
  await t.test('after a day of failures the webhook is turned off', (t) => isTurnedOff(t, scene))
})

void t.test('webhooks on PostgreSQL', async (t) => {
  const scene = await startScene(t, { storeUrl: await (await startPostgres(t)).url() })
  await t.test('authorized webhooks get signed events in order', (t) => areSigned(t, scene))
  for (const [what, answer] of faults.slice(0, 1))
    await t.test(`${what}: it is tried again, in order, with the same id`, (t) =>
      isTriedAgain(t, scene, answer),
    )
  await t.test('after a day of failures the webhook is turned off', (t) => isTurnedOff(t, scene))
})

async function areSigned(t: Test, scene: Scene): Promise<void> {
  const { ann, ben } = scene
  const [anns, bens, filtered, all] = [
    await startReceiver(t),
    await startReceiver(t),
    await startReceiver(t),
    await startReceiver(t),
  ]
  const at = await addWebhook(ann, { name: 'ann', url: anns.url })
  await addWebhook(ben, { name: 'ben', url: bens.url })
  await addWebhook(ann, { name: 'some', url: filtered.url, filter: 'name=b-*' })
  await addWebhook(scene.system, { name: 'all', url: all.url })
  const names = [...numbered('a', 5), ...numbered('b', 5)]
  await makeEvents(ann, names)
  await makeEvents(ben, ['c'])

  await eventually('all have arrived', () => namesOf(anns).length === names.length)
  t.same(namesOf(anns), names)
  await eventually('its own has arrived', () => namesOf(bens).length > 0)
  t.same(namesOf(bens), ['c'])
  await eventually('the matching ones have arrived', () => namesOf(filtered).length === 5)
  t.same(namesOf(filtered), numbered('b', 5))
  await eventually('the system administrator gets all', () => namesOf(all).length === 11)

  for (const { text, signature, id, type } of anns.received) {
    const [, at = '', digest = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? []
    t.equal(digest, createHmac('sha256', secret).update(`${at}.${text}`).digest('hex'))
    t.match({ id, type }, { id: Number, type: 'deployment' })
  }
  const shown = await ann.call(200, 'GET', at)
  t.equal(shown['url'], anns.url.slice(0, anns.url.indexOf('/hooks')))
  t.notMatch(JSON.stringify(shown), /secret-path|sixteen/)
  await eventually('the deliveries are listed', async () => {
    const rows = await readDeliveries(ann, at)
    return rows.length === names.length && rows.every(({ state }) => state === 'delivered')
  })
  const [last] = await readDeliveries(ann, at)
  t.match(last, { type: 'deployment', attempts: 1, status: 200, answer: 'thanks', error: null })
}

/** Each lasts until the test sets another answer. */
const faults: readonly (readonly [string, Answer])[] = [
  ['it answers 500', (response) => response.writeHead(500).end('broken')],
  ['it closes the connection', (response) => response.destroy()],
  ['it answers what is not HTTP', (response) => response.socket?.end('nonsense\r\n\r\n')],
  ['it answers 429', (response) => response.writeHead(429, { 'retry-after': '1' }).end()],
]

async function isTriedAgain(t: Test, { ann, controller }: Scene, answer: Answer): Promise<void> {
  const receiver = await startReceiver(t, answer)
  const at = await addWebhook(ann, { name: `w${receiver.url}`, url: receiver.url })
  const names = numbered(`f${receiver.url}`, 3)
  await makeEvents(ann, names)
  const failing = await eventually('the webhook is failing', async () => {
    const shown = await ann.call(200, 'GET', at)
    return shown['failing'] === true && shown
  })
  t.match(failing, { waiting: Number, problems: [{ code: 'webhook-failing', severity: 2 }] })
  receiver.answer = ok
  await eventually('all have arrived', () => {
    controller.advance(1_000)
    return without(namesOf(receiver)).length === names.length
  })
  t.same(without(namesOf(receiver)), names, 'in order')
  const ids = new Set(receiver.received.map(({ id, data }) => `${String(data['name'])} ${id}`))
  t.equal(ids.size, names.length, 'each with one id')
  await eventually('the webhook works again', async () => {
    const { failing, waiting, problems } = await ann.call(200, 'GET', at)
    return failing === false && waiting === 0 && JSON.stringify(problems) === '[]'
  })
  await ann.call(204, 'DELETE', at)
}

const oddAnswers: readonly (readonly [string, Answer, Partial<WebhookDelivery>])[] = [
  [
    'an answer of 10 MB',
    (response) => response.end(Buffer.alloc(10 << 20, 'x')),
    { state: 'delivered', status: 200, answer: 'x'.repeat(1024) },
  ],
  [
    'an answer that lies about its length',
    (response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('short', () => response.destroy())
    },
    { state: 'delivered', status: 200, answer: 'short' },
  ],
  [
    'an answer with a NUL and half a character',
    (response) => response.writeHead(202).end(Buffer.from([0x61, 0, 0xc3])),
    { state: 'delivered', status: 202, answer: 'a\ufffd' },
  ],
  [
    'a redirect to a metadata address',
    (response) => response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
    { state: 'failed', status: 307, error: 'it answered 307, which is not followed' },
  ],
]

async function isJudged(
  t: Test,
  { ann }: Scene,
  { answer, row }: { readonly answer: Answer; readonly row: Partial<WebhookDelivery> },
): Promise<void> {
  const receiver = await startReceiver(t, answer)
  const at = await addWebhook(ann, { name: `w${receiver.url}`, url: receiver.url })
  t.match(await ann.call(200, 'POST', `${at}/test`), { type: 'test', attempts: 1, ...row })
  t.match(await readDeliveries(ann, at), [row])
  await ann.call(204, 'DELETE', at)
}

async function isNotFollowed(t: Test, { ann }: Scene): Promise<void> {
  const there = await startReceiver(t)
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(302, { location: there.url }).end(),
  )
  const at = await addWebhook(ann, { name: 'moved', url: receiver.url })
  await ann.call(200, 'POST', `${at}/test`)
  t.same(there.received, [])
  await ann.call(204, 'DELETE', at)
}

async function keepsNoneWaiting(t: Test, { ann, ben }: Scene): Promise<void> {
  const held: ServerResponse[] = []
  const hanging = await startReceiver(t, (response) => held.push(response))
  const others = [await startReceiver(t), await startReceiver(t)] as const
  const slow = await addWebhook(ann, { name: 'hangs', url: hanging.url })
  await addWebhook(ann, { name: 'beside', url: others[0].url })
  await addWebhook(ben, { name: 'beside', url: others[1].url })
  await makeEvents(ann, ['h-0'])
  await eventually('the first delivery hangs', () => held.length === 1)
  await makeEvents(ann, ['h-1'])
  await makeEvents(ben, ['i-1'])
  await eventually('the others get their events', () =>
    others.every(({ received }, index) => received.length === 2 - index),
  )
  t.equal(held.length, 1, 'one at a time')
  hanging.answer = ok
  held[0]?.end()
  await eventually('delivery continues', () => namesOf(hanging).length === 2)
  t.same(namesOf(hanging), ['h-0', 'h-1'])
  await ann.call(204, 'DELETE', slow)
}

async function goesOn(t: Test, { ann, restart }: Scene): Promise<void> {
  const held: ServerResponse[] = []
  const receiver = await startReceiver(t, (response) => held.push(response))
  const at = await addWebhook(ann, { name: 'interrupted', url: receiver.url })
  const names = numbered('r', 8)
  await makeEvents(ann, names.slice(0, 4))
  await eventually('a delivery is in progress', () => held.length === 1)
  await restart()
  receiver.answer = ok
  await makeEvents(ann, names.slice(4))
  await eventually('all have arrived', () => without(namesOf(receiver)).length === names.length)
  t.same(without(namesOf(receiver)), names)
  const first = await eventually('the deliveries are recorded', async () => {
    const rows = await readDeliveries(ann, at)
    return rows.every(({ state }) => state === 'delivered') ? rows.at(-1) : undefined
  })
  t.equal(first.attempts, 1, 'an interrupted delivery is not an attempt')
  await ann.call(204, 'DELETE', at)
}

async function isTurnedOff(t: Test, { ann, controller }: Scene): Promise<void> {
  const receiver = await startReceiver(t, (response) => response.writeHead(503).end())
  const at = await addWebhook(ann, { name: 'gone', url: receiver.url })
  await makeEvents(ann, ['g-0', 'g-1'])
  await eventually('it fails, and both wait', async () => {
    const { failing, waiting } = await ann.call(200, 'GET', at)
    return failing === true && waiting === 2
  })
  controller.advance(24 * 3600 * 1000)
  const off = await eventually('it is turned off', async () => {
    const shown = await ann.call(200, 'GET', at)
    return shown['enabled'] === false && shown
  })
  t.match(off, {
    failing: true,
    waiting: 0,
    dropped: 2,
    problems: [{ code: 'webhook-failing', severity: 3, message: /turned off.*it answered 503/ }],
  })
  receiver.answer = ok
  const before = receiver.received.length
  await ann.call(200, 'PUT', at, { enabled: true })
  await makeEvents(ann, ['g-2'])
  await eventually('it gets new events', () => receiver.received.length > before)
  t.same(namesOf(receiver).slice(before), ['g-2'])
  await ann.call(204, 'DELETE', at)
}

async function isTested(t: Test, { ann, ben }: Scene): Promise<void> {
  const receiver = await startReceiver(t)
  const fields = { name: 'slack', url: receiver.url, types: ['problem'], format: 'slack' }
  const made = await ann.call(201, 'POST', '/webhooks', { ...fields, name: '<!channel>' })
  t.match(made['secret'], /^[\w-]{43}$/, 'it is generated, and shown once')
  const at = `/webhooks/${idOf(made)}`
  t.notOk('secret' in (await ann.call(200, 'GET', at)))
  t.match(await ann.call(200, 'POST', `${at}/test`), { state: 'delivered' })
  t.equal(receiver.received[0]?.text, '{"text":"A test of webhook &lt;!channel&gt;"}')
  for (const path of ['/test', '']) await ben.call(404, path ? 'POST' : 'GET', `${at}${path}`)
  t.match(await ann.call(200, 'PUT', at, { url: made['url'], name: 'kept' }), { url: made['url'] })
  t.match(await ann.call(200, 'POST', `${at}/test`), { state: 'delivered' }, 'the path is kept')
  await ann.call(204, 'DELETE', at)
}

async function isRefused(t: Test, { ann, addPerson, system }: Scene): Promise<void> {
  const cat = await addPerson('cat', 'one')
  const account = { id: cat.id }
  for (const type of ['webhook', 'deployment'])
    await ann.call(201, 'POST', '/permissions', { account, type, write: type === 'webhook' })
  const fields = { name: 'cat', url: 'https://hooks.example.com/', types: ['deployment'] }
  const at = `/webhooks/${idOf(await cat.call(201, 'POST', '/webhooks', fields))}`
  t.match(await cat.call(403, 'PUT', at, { types: ['apilog'] }), {
    errorMsg: 'types: apilog needs read permission on apilog',
  })
  await ann.call(200, 'PUT', at, { types: ['apilog'] })
  await cat.call(403, 'PUT', at, { url: 'https://elsewhere.example.com/' })
  for (const [wrong, message] of [
    [{ url: 'https://10.0.0.1/' }, /private network/],
    [{ url: 'https://169.254.169.254/' }, /metadata/],
    [{ secret: 'short' }, /16 to 255/],
    [{ filter: 'nonsense=1' }, /no field "nonsense"/],
  ] as const)
    t.match(await ann.call(400, 'PUT', at, wrong), { errorKey: 'webhook', errorMsg: message })
  await system.call(201, 'POST', '/webhooks', { ...fields, url: 'http://10.0.0.1/' })
}
