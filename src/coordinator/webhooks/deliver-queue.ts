/** Sends the queued deliveries of one webhook in order, until the queue is empty or an attempt fails. */
import { FleetError } from '../../errors.js'
import { pauseFor } from '../../runtime/pause.js'
import type { StateService } from '../service.js'
import { holdsLease, type Lease } from '../store/lease-queries.js'
import {
  deleteOldEnded,
  dropWaiting,
  readWaiting,
  writeAttempt,
  type Attempt,
  type WaitingDelivery,
} from './delivery-queries.js'
import { judgeAttempt } from './judge-attempt.js'
import { findEnabledWebhook, type WebhookRecord } from './webhook-queries.js'
import { openTarget, sendMessage, type Target, type WebhookTools } from './webhook-tools.js'

const atOnce = 50
/** Outcomes are written in batches; deliveries whose outcome was not written before a crash are sent again with the same ids. */
const writeAfterMs = 500
/** Delivery pauses as long as it worked, so that it does not slow the deploy that creates the events. */
const longestRestMs = 500

interface Outcome {
  readonly delivery: WaitingDelivery
  readonly attempt: Attempt
}

/** Stops when `lease` is lost. */
export async function deliverQueue(
  tools: WebhookTools,
  id: number,
  { lease, signal }: { readonly lease: Lease; readonly signal: AbortSignal },
): Promise<void> {
  const { store, now } = tools.service
  while (!signal.aborted) {
    if (!(await holdsLease(store.queries, lease))) return
    const webhook = await findEnabledWebhook(store.queries, id)
    if (!webhook || webhook.retryAt > now()) return
    const waiting = await readWaiting(store.queries, id, atOnce)
    if (waiting.length === 0) return
    const startedAt = performance.now()
    const outcomes = await sendSome(tools, webhook, { waiting, signal })
    const isGoingOn = await store.transaction(async (queries) => {
      // If the lease was lost meanwhile, its new holder sends and judges these deliveries again.
      if (!(await holdsLease(queries, lease))) return false
      return writeOutcomes({ ...tools.service, store: { ...store, queries } }, webhook, outcomes)
    })
    if (!isGoingOn) return
    await pauseFor(Math.min(performance.now() - startedAt, longestRestMs), signal)
  }
}

async function sendSome(
  { service, sealing }: WebhookTools,
  webhook: WebhookRecord,
  {
    waiting,
    signal,
  }: { readonly waiting: readonly WaitingDelivery[]; readonly signal: AbortSignal },
): Promise<Outcome[]> {
  const target = await openTarget(sealing, webhook).catch(toFailed)
  const outcomes: Outcome[] = []
  const startedAt = performance.now()
  for (const delivery of waiting) {
    const attempt = 'error' in target ? target : await tryOnce(service, target, delivery, signal)
    if (attempt === null) break
    service.observeDelivery(delivery.type, attempt.isDelivered)
    outcomes.push({ delivery, attempt })
    if (!attempt.isDelivered || performance.now() - startedAt > writeAfterMs) break
  }
  return outcomes
}

/** Null if it was stopped, which does not count as an attempt. */
async function tryOnce(
  service: StateService,
  target: Target,
  delivery: WaitingDelivery,
  signal: AbortSignal,
): Promise<Attempt | null> {
  try {
    return await sendMessage(service, target, delivery, signal)
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

function toFailed(error: unknown): Attempt {
  if (!(error instanceof FleetError)) throw error
  return { isDelivered: false, status: null, answer: null, error: error.message }
}

/** Returns true if delivery continues. */
async function writeOutcomes(
  { store: { queries }, now }: StateService,
  webhook: WebhookRecord,
  outcomes: readonly Outcome[],
): Promise<boolean> {
  const at = now()
  for (const { delivery, attempt } of outcomes) {
    const state = attempt.isDelivered ? 'delivered' : 'waiting'
    await writeAttempt(queries, delivery.id, attempt, { state, now: at })
  }
  const last = outcomes.at(-1)?.attempt
  if (!last) return false
  const { isGivenUp, ...health } = judgeAttempt(recoveredBy(webhook, outcomes), last.error, at)
  const isSame = health.failures === 0 && webhook.failures === 0
  if (!isSame)
    await queries
      .updateTable('webhooks')
      .set({ ...health, ...(isGivenUp && { enabled: 0 }) })
      .where('id', '=', webhook.id)
      // An edit in the meantime has reset the failures.
      .where('updatedAt', '=', webhook.updatedAt)
      .execute()
  if (isGivenUp) await dropWaiting(queries, webhook.id, at)
  await deleteOldEnded(queries, webhook.id)
  return last.isDelivered
}

/** A failure after a success counts as the first. */
function recoveredBy(
  webhook: WebhookRecord,
  outcomes: readonly Outcome[],
): Pick<WebhookRecord, 'failures' | 'failingSince'> {
  const hasDelivered = outcomes.some(({ attempt }) => attempt.isDelivered)
  return hasDelivered ? { failures: 0, failingSince: null } : webhook
}
