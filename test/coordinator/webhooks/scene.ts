/** A coordinator that delivers to webhooks, with two organizations whose users have some. */
import { pino } from 'pino'
import type { Test } from 'tap'
import { startWebhookDelivery } from '../../../src/coordinator/webhooks/webhook-delivery.js'
import type { WebhookDelivery } from '../../../src/resources/webhook.js'
import type { ControllerOptions } from '../../support/start-controller.js'
import { idOf, startTenants, type Json, type Person, type Tenants } from '../identity/people.js'

export const secret = 'sixteen characters and more'.replaceAll(' ', '-')
const silent = pino({ level: 'silent' })

export interface Scene extends Tenants {
  readonly ann: Person
  readonly ben: Person
  /** Stops delivery and starts it again as a coordinator that starts does. */
  readonly restart: () => Promise<void>
}

export async function startScene(t: Test, options: ControllerOptions = {}): Promise<Scene> {
  const tenants = await startTenants(t, { withEvents: true, ...options })
  // Tests advance the clock by a day.
  const ttls = { accessTTL: 1_000_000, refreshTTL: 1_000_000 }
  await tenants.makeOrganization('one', ttls)
  await tenants.makeOrganization('two', ttls)
  let delivery = startWebhookDelivery(tenants.controller.identity, silent)
  t.teardown(() => delivery.close())
  const ann = await tenants.addPerson('ann', 'one')
  const ben = await tenants.addPerson('ben', 'two')
  for (const { call } of [ann, ben]) await call(201, 'POST', '/tags', { name: 'web' })
  return {
    ...tenants,
    ann,
    ben,
    restart: async () => {
      await delivery.close()
      delivery = startWebhookDelivery(tenants.controller.identity, silent)
    },
  }
}

export async function addWebhook({ call }: Person, fields: Json): Promise<string> {
  const all = { types: ['deployment'], secret, ...fields }
  return `/webhooks/${idOf(await call(201, 'POST', '/webhooks', all))}`
}

/** Creates deployments, each of which makes an event of type deployment. */
export async function makeEvents({ call }: Person, names: readonly string[]): Promise<void> {
  const tags = await call(200, 'GET', '/tags')
  for (const name of names) await call(201, 'POST', '/deployments', { name, tags })
}

export async function readDeliveries({ call }: Person, at: string): Promise<WebhookDelivery[]> {
  const rows = await call(200, 'GET', `${at}/deliveries`)
  return rows as unknown as WebhookDelivery[] // lists are arrays
}

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
