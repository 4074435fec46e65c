/** Lists, creates and changes webhooks. An actor who writes one must be allowed to read the events it receives. */
import { randomBytes } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { eventNameOf, readBy, type EventType } from '../../resources/event.js'
import { may, type Actor } from '../../resources/permission.js'
import { worstSeverity, type Problem } from '../../resources/problem.js'
import { webhook, type WebhookType } from '../../resources/webhook.js'
import { FleetError } from '../../errors.js'
import { chooseOwner, withUniqueName } from '../api/find-references.js'
import { createBody, updateBody, withOthers } from '../api/resource-schemas.js'
import { readEventBounds } from '../events/event-queries.js'
import { sealedPurposes } from '../identity/sealed-texts.js'
import { findWebhookProblems } from '../problems/find-webhook-problems.js'
import { toProblems } from '../problems/make-problem.js'
import { scopeOf, type StateService } from '../service.js'
import { holdQuota } from '../store/quotas.js'
import { isSame, mergeWritten, toRow } from '../store/resource-rows.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import { countWaiting, dropWaiting } from './delivery-queries.js'
import { parseEventFilter } from './event-filter.js'
import { webhookReading, type WebhookRecord } from './webhook-queries.js'
import { rulesFor, type WebhookTools } from './webhook-tools.js'
import { parseWebhookUrl } from './webhook-url.js'

const secretForm = /^[\x21-\x7e]{16,255}$/

const secret = Type.Optional(
  Type.String({ description: 'never answered again; made when a new webhook has none' }),
)
export const webhookBodies = {
  create: withOthers(createBody(webhook.fields), { secret }),
  update: withOthers(updateBody(webhook.fields), { secret }),
}

export interface WebhookView {
  readonly record: WebhookRecord
  readonly waiting: number
  readonly problems: readonly Problem[]
  /** Present only if it was just generated. */
  readonly secret?: string
}

export const webhookListing = {
  columns: webhookReading.listing.columns,
  computed: {
    fields: {
      waiting: { type: 'number' },
      severity: { type: 'number' },
      'problems.code': { type: 'nested' },
    },
    valuesOf: ({ waiting, problems }: WebhookView, field: string) => {
      if (field === 'waiting') return [waiting]
      return field === 'severity' ? [worstSeverity(problems)] : problems.map(({ code }) => code)
    },
  },
  select: webhookReading.listing.select,
  read: async (service: StateService, rows: Parameters<typeof webhookReading.listing.read>[1]) =>
    viewWebhooks(service, await webhookReading.listing.read(service, rows, { kind: 'all' })),
} as const

export async function viewWebhook(
  service: StateService,
  record: WebhookRecord,
): Promise<WebhookView> {
  const [view] = await viewWebhooks(service, [record])
  if (!view) throw new Error('one webhook has one view')
  return view
}

async function viewWebhooks(
  { store, now }: StateService,
  records: readonly WebhookRecord[],
): Promise<WebhookView[]> {
  const waiting = await countWaiting(
    store.queries,
    records.map(({ id }) => id),
  )
  return records.map((record) => ({
    record,
    waiting: waiting.get(record.id) ?? 0,
    problems: toProblems(findWebhookProblems(record), now),
  }))
}

/** Returns the generated secret if none was given; no other response has one. Throws 'forbidden' for types the actor may not read. */
export async function createWebhook(
  { service, sealing }: WebhookTools,
  actor: Actor,
  { organization, secret: given, ...wanted }: Static<typeof webhookBodies.create>,
): Promise<WebhookView> {
  const { store, now } = service
  const owner = await chooseOwner(store.queries, actor, organization, 'webhook')
  const fields = mergeWritten(webhook, wanted)
  requireFields(actor, fields)
  const { whole, origin } = parseWebhookUrl(fields.url, rulesFor(service, owner))
  const secret = given === undefined ? randomBytes(32).toString('base64url') : readSecret(given)
  const id = await withUniqueName(fields.name, 'webhook', () =>
    sealing.write(store, async (queries) => {
      const made = await insertRow(
        queries,
        'webhooks',
        {
          organizationId: owner,
          ...toRow(webhook.fields, { ...fields, url: origin }),
          sealedUrl: sealing.seal(whole, sealedPurposes.webhookUrl),
          sealedSecret: sealing.seal(secret, sealedPurposes.webhookSecret),
          position: (await readEventBounds(queries)).newest,
          dropped: 0,
          ...healthy,
        },
        now(),
      )
      await holdQuota(queries, owner, 'webhooks')
      return made
    }),
  )
  const view = await viewWebhook(service, await webhookReading.readAgain(service, actor, id))
  return given === undefined ? { ...view, secret } : view
}

const healthy = { failures: 0, failingSince: null, lastError: null, retryAt: 0 } as const

/** Waiting deliveries are retried at once, to the new URL; disabling drops them. Throws like createWebhook. */
export async function updateWebhook(
  { service, sealing }: WebhookTools,
  actor: Actor,
  before: WebhookRecord,
  { secret: given, ...change }: Static<typeof webhookBodies.update>,
): Promise<WebhookView> {
  const { store, now } = service
  const { id, organizationId } = before
  const merged = mergeWritten(webhook, change, before)
  requireFields(actor, merged)
  // The URL as a GET returns it: unchanged.
  const isKept = change.url === before.url && before.sealedUrl !== null
  const parsed =
    change.url === undefined || isKept
      ? null
      : parseWebhookUrl(merged.url, rulesFor(service, organizationId))
  const fields = { ...merged, url: parsed?.origin ?? before.url }
  const secret = given === undefined ? null : readSecret(given)
  const isChanged = parsed !== null || secret !== null || !isSame(fields, before)
  if (isChanged)
    await withUniqueName(fields.name, 'webhook', () =>
      sealing.write(store, async (queries) => {
        const isToggled = fields.enabled !== before.enabled
        await updateRow(queries, 'webhooks', id, {
          ...toRow(webhook.fields, fields),
          ...healthy,
          ...(parsed && { sealedUrl: sealing.seal(parsed.whole, sealedPurposes.webhookUrl) }),
          ...(secret !== null && {
            sealedSecret: sealing.seal(secret, sealedPurposes.webhookSecret),
          }),
          // Events that occurred while it was disabled are not sent.
          ...(isToggled && { position: (await readEventBounds(queries)).newest }),
          updatedAt: now(),
        })
        if (isToggled) await dropWaiting(queries, id, now())
      }),
    )
  return viewWebhook(service, await webhookReading.readAgain(service, actor, id))
}

export async function deleteWebhook({ store }: StateService, { id }: WebhookRecord): Promise<void> {
  await store.transaction((queries) => deleteRow(queries, 'webhooks', id))
}

/** Used by the problem follower. */
export async function viewSomeWebhooks(
  service: StateService,
  ids: readonly number[],
): Promise<WebhookView[]> {
  const { queries } = service.store
  const rows = await webhookReading.listing
    .select(queries, { kind: 'all' }, service.now())
    .where('webhooks.id', 'in', [...ids])
    .execute()
  return webhookListing.read(service, rows)
}

export function findWebhook(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<WebhookRecord | undefined> {
  return webhookReading.find(store.queries, scopeOf(actor), id)
}

function requireFields(
  actor: Actor,
  { types, filter }: { readonly types: readonly WebhookType[]; readonly filter: string },
): void {
  for (const type of new Set(types)) {
    const needed = listNeeded(type).find((one) => !may(actor, one, 'read'))
    if (needed !== undefined)
      throw new FleetError(
        'forbidden',
        'webhook',
        `types: ${type} needs read permission on ${needed}`,
      )
  }
  parseEventFilter(filter, types)
}

/** `problem` covers every type of object that can have problems. */
function listNeeded(wanted: WebhookType) {
  return (Object.keys(readBy) as EventType[])
    .filter((type) => eventNameOf(type) === wanted)
    .flatMap((type) => readBy[type])
}

function readSecret(secret: string): string {
  if (secretForm.test(secret)) return secret
  throw new FleetError(
    'invalid',
    'webhook',
    'secret: it must have 16 to 255 printable ASCII characters without blanks',
  )
}
