/** `/webhooks/{id}/test`: one delivery outside the queue, in a single attempt; the caller waits for its outcome. */
import { FleetError } from '../../errors.js'
import { findDelivery, type DeliveryRow } from './delivery-queries.js'
import { sendLogged } from './send-logged.js'
import type { WebhookRecord } from './webhook-queries.js'
import type { WebhookTools } from './webhook-tools.js'

/** Each may take 10 s. */
const maxConcurrent = 20

/** The returned function throws 'limited' while this webhook, or too many others, are being tested. */
export function createTester(tools: WebhookTools) {
  const tested = new Set<number>()
  return async (webhook: WebhookRecord): Promise<DeliveryRow> => {
    if (tested.has(webhook.id) || tested.size >= maxConcurrent)
      throw new FleetError('limited', 'webhook', 'a test is running; try again in 10 s', {
        retryAfterSeconds: 10,
      })
    tested.add(webhook.id)
    try {
      return await runTest(tools, webhook)
    } finally {
      tested.delete(webhook.id)
    }
  }
}

async function runTest(tools: WebhookTools, webhook: WebhookRecord): Promise<DeliveryRow> {
  const { store, background } = tools.service
  const { id: webhookId, name } = webhook
  const data = JSON.stringify({ webhook: { id: webhookId, name } })
  const { signal } = background
  const { id } = await sendLogged(tools, webhook, { type: 'test', data, signal })
  const found = await findDelivery(store.queries, id)
  if (!found) throw new FleetError('not-found', 'webhook', `${webhookId} was not found`)
  return found
}
