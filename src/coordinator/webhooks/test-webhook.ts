/** `/webhooks/{id}/test`: one delivery beside the queue, tried once, whose outcome the caller waits for. */
import { FleetError } from '../../errors.js'
import {
  findDelivery,
  insertTest,
  writeTest,
  type Attempt,
  type DeliveryRow,
} from './delivery-queries.js'
import type { WebhookRecord } from './webhook-queries.js'
import { openTarget, sendMessage, type WebhookTools } from './webhook-tools.js'

/** Each may take 10 s. */
const atOnceMost = 20

/** The answered function throws 'limited' while the webhook, or too many others, are being tested. */
export function createTester({ service, sealing }: WebhookTools) {
  const tested = new Set<number>()
  return async (webhook: WebhookRecord): Promise<DeliveryRow> => {
    if (tested.has(webhook.id) || tested.size >= atOnceMost)
      throw new FleetError('limited', 'webhook', 'it is being tested; wait for the answer', {
        retryAfterSeconds: 10,
      })
    tested.add(webhook.id)
    try {
      return await runTest({ service, sealing }, webhook)
    } finally {
      tested.delete(webhook.id)
    }
  }
}

async function runTest(
  { service, sealing }: WebhookTools,
  webhook: WebhookRecord,
): Promise<DeliveryRow> {
  const { store, now, background } = service
  const { id: webhookId, name } = webhook
  const target = await openTarget(sealing, webhook)
  const data = JSON.stringify({ webhook: { id: webhookId, name } })
  const test = { type: 'test', at: now(), data }
  const id = await store.transaction((queries) => insertTest(queries, { webhookId, ...test }))
  const attempt = await sendMessage(service, target, { id, ...test }, background.signal).catch(
    (error: unknown): Attempt => {
      if (!background.signal.aborted) throw error
      return { isDelivered: false, status: null, answer: null, error: 'the coordinator stops' }
    },
  )
  service.observeDelivery('test', attempt.isDelivered)
  await store.transaction((queries) => writeTest(queries, { webhookId, id }, attempt, now()))
  const found = await findDelivery(store.queries, id)
  if (!found) throw new FleetError('not-found', 'webhook', `${webhookId} was not found`)
  return found
}
