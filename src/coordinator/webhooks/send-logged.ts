/** Sends one delivery outside the queue, in a single attempt, and records it in the webhook's log. */
import { insertUnqueued, writeUnqueued, type Attempt } from './delivery-queries.js'
import type { WebhookRecord } from './webhook-queries.js'
import { openTarget, sendMessage, type WebhookTools } from './webhook-tools.js'

interface Unqueued {
  readonly type: 'test' | 'gate'
  /** JSON. */
  readonly data: string
  /** Fires when the sender stops. */
  readonly signal: AbortSignal
}

/** Rejects like `openTarget`. */
export async function sendLogged(
  { service, sealing }: WebhookTools,
  webhook: WebhookRecord,
  { type, data, signal }: Unqueued,
): Promise<{ readonly id: number; readonly attempt: Attempt }> {
  const { store, now } = service
  const { id: webhookId } = webhook
  const target = await openTarget(sealing, webhook)
  const message = { type, at: now(), data }
  const id = await store.transaction((queries) =>
    insertUnqueued(queries, { webhookId, ...message }),
  )
  const attempt = await sendMessage(service, target, { id, ...message }, signal).catch(
    (error: unknown): Attempt => {
      if (!signal.aborted) throw error
      return { isDelivered: false, status: null, answer: null, error: 'the coordinator stops' }
    },
  )
  service.observeDelivery(type, attempt.isDelivered)
  await store.transaction((queries) => writeUnqueued(queries, { webhookId, id }, attempt, now()))
  return { id, attempt }
}
