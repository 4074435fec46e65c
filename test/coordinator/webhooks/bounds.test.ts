/** The queue of one webhook is bounded, and a hanging webhook delays no other. */
import t, { type Test } from 'tap'
import {
  insertDeliveries,
  readWaiting,
} from '../../../src/coordinator/webhooks/delivery-queries.js'
import { defaultQuotas } from '../../../src/resources/quota.js'
import { webhookLimits } from '../../../src/resources/webhook.js'
import { eventually } from '../../support/eventually.js'
import type { Json } from '../identity/people.js'
import { listNames, startReceiver } from './receiver.js'
import { addWebhook, makeEvents, numbered, startScene, type Scene } from './scene.js'

void t.test('webhooks', async (t) => {
  const scene = await startScene(t)
  await t.test('beyond 10,000 waiting events the oldest are dropped, and counted', (t) =>
    areBounded(t, scene),
  )
  await t.test('one organization’s hanging webhooks delay no other', (t) => isShared(t, scene))
})

async function areBounded(t: Test, { ann, controller }: Scene): Promise<void> {
  const { queries } = controller.service.store
  const receiver = await startReceiver(t, (response) => response.writeHead(503).end())
  const at = await addWebhook(ann, { name: 'full', url: receiver.url })
  const webhookId = Number(at.split('/').at(-1))
  const early = numbered('early', webhookLimits.waiting - 2).map((name) => ({
    webhookId,
    type: 'deployment',
    at: 0,
    data: JSON.stringify({ name }),
  }))
  await insertDeliveries(queries, early)

  await makeEvents(ann, numbered('late', 5))

  await eventually('the late ones wait, too', async () => {
    const { dropped, waiting } = await ann.call(200, 'GET', at)
    return dropped === 3 && waiting === webhookLimits.waiting
  })
  const waiting = await readWaiting(queries, webhookId, 2 * webhookLimits.waiting)
  const names = waiting.map(({ data }) => (JSON.parse(data) as Json)['name'])
  t.same(names, [...numbered('early', early.length).slice(3), ...numbered('late', 5)])
  await ann.call(204, 'DELETE', at)
}

async function isShared(t: Test, { ann, ben }: Scene): Promise<void> {
  const hanging = await startReceiver(t, () => undefined)
  const most = numbered('hangs', defaultQuotas.webhooks)
  for (const name of most) await addWebhook(ann, { name, url: hanging.url })
  const receiver = await startReceiver(t)
  await addWebhook(ben, { name: 'beside', url: receiver.url })
  await makeEvents(ann, ['h-0', 'h-1'])
  await eventually('all hang', () => hanging.received.length === most.length)

  await makeEvents(ben, ['i-0', 'i-1'])

  await eventually('both have arrived', () => receiver.received.length === 2)
  t.same(listNames(hanging), ['h-0'], 'each hanging webhook waits for its first answer')
}
