/** `/webhooks`: the URLs that receive an organization's events; test deliveries, and the log of deliveries. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { webhook, webhookDelivery } from '../../resources/webhook.js'
import { resourceRoutes } from '../api/resource-routes.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toIso } from '../api/times.js'
import { answerList, route, type Route } from '../http/route.js'
import { readDeliveries, type DeliveryRow } from './delivery-queries.js'
import { createTester } from './test-webhook.js'
import { webhookReading, type WebhookRecord } from './webhook-queries.js'
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  updateWebhook,
  viewWebhook,
  webhookBodies,
  webhookListing,
  type WebhookView,
} from './webhooks.js'
import type { WebhookTools } from './webhook-tools.js'

const webhookSchema = answerSchema(webhook.fields)
const deliverySchema = answerSchema(webhookDelivery.fields)
const makeAnswer = answerMaker(webhook.fields)

export function webhookRoutes(tools: WebhookTools): readonly Route[] {
  const { service } = tools
  const find = (_: unknown, actor: Actor, id: number) => findWebhook(service, actor, id)
  const test = createTester(tools)
  return [
    ...resourceRoutes(service, {
      resource: webhook,
      title: 'Webhook',
      summaries: {
        list: 'Webhooks: where events are posted to',
        create: 'Creates a webhook; a secret that it makes is shown only in this answer',
        get: 'One webhook',
        update: 'Changes a webhook; queued deliveries are retried at once',
        delete: 'Deletes a webhook and its queued deliveries',
      },
      listing: webhookListing,
      listed: webhookSchema,
      toListed: toWebhookView,
      find: webhookReading.find,
      toEdited: toWebhookFields,
      // A new secret, or another path of the URL, changes no other key.
      edited: { keys: ['updated'] },
      bodies: webhookBodies,
      answer: webhookSchema,
      view: viewWebhook,
      toAnswer: toWebhookView,
      create: (inside, actor, body) => createWebhook({ ...tools, service: inside }, actor, body),
      update: (inside, actor, found, body) =>
        updateWebhook({ ...tools, service: inside }, actor, found, body),
      remove: deleteWebhook,
    }),
    route({
      method: 'POST',
      path: '/webhooks/{id}/test',
      operationId: 'testWebhook',
      summary: 'Sends an event of type test, once, and returns its outcome',
      errorKey: 'webhook',
      permission: { type: 'webhook', access: 'write' },
      find,
      answers: { 200: deliverySchema },
      handle: async ({ object }) => ({ status: 200, body: toDeliveryView(await test(object)) }),
    }),
    route({
      method: 'GET',
      path: '/webhooks/{id}/deliveries',
      operationId: 'listWebhookDeliveries',
      summary: 'The last deliveries of a webhook, the newest first',
      errorKey: 'webhook',
      permission: { type: 'webhook', access: 'read' },
      find,
      answers: { 200: Type.Array(deliverySchema) },
      handle: async ({ object }) => {
        const rows = await readDeliveries(service.store.queries, object.id)
        return answerList(rows.map(toDeliveryView), rows.length)
      },
    }),
  ]
}

function toWebhookView({ record, waiting, problems, secret }: WebhookView) {
  return makeAnswer(record, {
    failing: record.failingSince !== null,
    waiting,
    problems,
    ...(secret !== undefined && { secret }),
  })
}

/** The editable fields, as responses show them. */
function toWebhookFields({ name, url, types, filter, format, enabled, updatedAt }: WebhookRecord) {
  return { name, url, types, filter, format, enabled, updated: toIso(updatedAt) }
}

function toDeliveryView({ at, endedAt, ...row }: DeliveryRow) {
  return { ...row, at: toIso(at), ended: endedAt === null ? null : toIso(endedAt) }
}
