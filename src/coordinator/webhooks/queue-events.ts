/** Adds new events to the queues of the webhooks that receive them: on disk before anything is sent. */
import { runInSteps } from '../../in-steps.js'
import { pauseFor } from '../../runtime/pause.js'
import { readEventBounds, readTimedEvents } from '../events/event-queries.js'
import type { StateService } from '../service.js'
import { requireLease } from '../store/leases.js'
import type { Lease } from '../store/lease-queries.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'
import { chooseDeliveries } from './choose-deliveries.js'
import { dropExcess, insertDeliveries, type NewDelivery } from './delivery-queries.js'
import { readEnabledWebhooks, type WebhookRecord } from './webhook-queries.js'

/** About 300 kB of text. */
const eventsAtOnce = 200
/** Queueing pauses as long as it worked, so that it does not slow the deploy that creates the events. */
const longestRestMs = 200

/** Returns when all events have been matched. */
export async function queueEvents(
  service: StateService,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  for (let isMore = true; isMore && !signal.aborted;) {
    const startedAt = performance.now()
    isMore = await queueSome(service, lease)
    await pauseFor(Math.min(performance.now() - startedAt, longestRestMs), signal)
  }
}

/** Returns whether there are more. */
async function queueSome(service: StateService, lease: Lease): Promise<boolean> {
  const { store } = service
  const webhooks = await readEnabledWebhooks(store.queries)
  if (webhooks.length === 0) return false
  const { newest } = await readEventBounds(store.queries)
  const after = webhooks.reduce((least, { position }) => Math.min(least, position), newest)
  if (after >= newest) return false
  const events = await readTimedEvents(store.queries, after, eventsAtOnce)
  const until = events.at(-1)?.id ?? newest
  const chosen = await runInSteps(chooseDeliveries(events, webhooks))
  await store.decide(async (queries) => {
    await requireLease(queries, lease)
    await write(queries, { webhooks, chosen, until, now: service.now() })
  })
  return until < newest
}

interface Judged {
  readonly webhooks: readonly WebhookRecord[]
  readonly chosen: readonly NewDelivery[]
  readonly until: number
  readonly now: number
}

async function write(queries: Queries, { webhooks, chosen, until, now }: Judged): Promise<void> {
  const unchanged = await readUnchanged(queries, webhooks)
  const deliveries = chosen.filter(({ webhookId }) => unchanged.has(webhookId))
  await insertDeliveries(queries, deliveries)
  for (const webhookId of new Set(deliveries.map((one) => one.webhookId)))
    await dropExcess(queries, webhookId, now)
  await inPieces([...unchanged], async (ids) => {
    await queries
      .updateTable('webhooks')
      .set({ position: until })
      .where('id', 'in', ids)
      .where('position', '<', until)
      .execute()
    return []
  })
}

/** Webhooks edited in the meantime are matched again, in their new form. */
async function readUnchanged(
  queries: Queries,
  webhooks: readonly WebhookRecord[],
): Promise<ReadonlySet<number>> {
  const rows = await inPieces(
    webhooks.map(({ id }) => id),
    (ids) =>
      queries
        .selectFrom('webhooks')
        .select(['id', 'updatedAt', 'position'])
        .where('id', 'in', ids)
        .where('enabled', '=', 1)
        .execute(),
  )
  const now = new Map(rows.map((row) => [row.id, row]))
  const same = webhooks.filter(({ id, updatedAt, position }) => {
    const row = now.get(id)
    return row?.updatedAt === updatedAt && row.position === position
  })
  return new Set(same.map(({ id }) => id))
}
