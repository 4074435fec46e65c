/**
 * Delivers events to webhooks, in one of the coordinators (docs/behaviour.md, Webhooks). Each webhook has its own ordered queue, so
 * that none waits for another. One organization's share of the connections leaves room for the others.
 */
import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { eventsSubject } from '../bus/subjects.js'
import { createContext } from '../../context.js'
import { findFairRoom } from '../../resources/quota.js'
import { renewEveryMs } from '../store/leases.js'
import type { Lease } from '../store/lease-queries.js'
import { listWaiting } from './delivery-queries.js'
import { deliverQueue } from './deliver-queue.js'
import { queueEvents } from './queue-events.js'
import { readEnabledWebhooks, type WebhookRecord } from './webhook-queries.js'
import type { WebhookTools } from './webhook-tools.js'

/** Events within this time are queued together. */
const gatherMs = 100
/** The delay of an event whose hint was lost, and the precision of retry times. */
const everyMs = 1_000
/** Connections; each takes a few kilobytes. */
const maxConcurrent = 500

export function startWebhookDelivery(tools: WebhookTools, log: Logger): HintedLoop {
  const { service } = tools
  const { store, bus } = service
  const stopping = new AbortController()
  // One listener for each running delivery.
  setMaxListeners(maxConcurrent + 1, stopping.signal)
  /** By webhook. */
  const running = new Map<number, Running>()
  const loop = startHintedLoop(bus, {
    hints: [eventsSubject],
    gatherMs,
    log,
    trouble: 'events cannot be delivered to webhooks',
    everyMs,
    pass: async ({ signal, nextIn }) => {
      if ((await readEnabledWebhooks(store.queries)).length === 0) return
      const ran = await service.leases.run('webhooks', async (lease) => {
        await queueEvents(service, lease, signal)
        await startDue(lease)
        return true
      })
      if (ran === undefined) nextIn(renewEveryMs)
    },
  })
  return {
    close: async () => {
      stopping.abort()
      await loop.close()
      await Promise.all([...running.values()].map(({ work }) => work))
    },
  }

  async function startDue(lease: Lease): Promise<void> {
    const webhooks = await readEnabledWebhooks(store.queries)
    const due = webhooks.filter(({ id, retryAt }) => retryAt <= service.now() && !running.has(id))
    const waiting = await listWaiting(
      store.queries,
      due.map(({ id }) => id),
    )
    for (const webhook of due)
      if (waiting.has(webhook.id) && hasRoom(webhook)) start(webhook, lease)
  }

  function hasRoom({ organizationId }: WebhookRecord): boolean {
    const held = [...running.values()].filter((one) => one.organizationId === organizationId).length
    return findFairRoom({ total: maxConcurrent, used: running.size, held }) > 0
  }

  function start({ id, organizationId }: WebhookRecord, lease: Lease): void {
    const context = createContext(log)
    const work = deliverQueue(tools, id, { lease, signal: stopping.signal })
      .catch((error: unknown) => {
        context.log.error({ err: error, webhookId: id }, 'events cannot be delivered to a webhook')
      })
      .finally(() => running.delete(id))
    running.set(id, { organizationId, work })
  }
}

interface Running {
  readonly organizationId: number | null
  /** Never rejects. */
  readonly work: Promise<unknown>
}
