/** Dependencies of the webhook use cases; opens the sealed values of a webhook to send to it. */
import { FleetError } from '../../errors.js'
import { compileNetworks } from '../http/networks.js'
import { sealedPurposes } from '../identity/sealed-texts.js'
import type { Sealing } from '../identity/sealing.js'
import type { StateService } from '../service.js'
import { composeBody, signBody, type Message } from './compose-body.js'
import type { Attempt } from './delivery-queries.js'
import { sendDelivery } from './send-delivery.js'
import type { WebhookRecord } from './webhook-queries.js'

export interface WebhookTools {
  readonly service: StateService
  readonly sealing: Sealing
}

/** `owner` null: the system administrator. */
export function rulesFor({ settings }: StateService, owner: number | null) {
  const { webhookNetworks } = settings
  return {
    isAllowed: compileNetworks(webhookNetworks),
    hasNetworks: webhookNetworks.length > 0,
    isAdministrators: owner === null,
  }
}

/** What is needed to send to a webhook. */
export interface Target {
  readonly webhook: WebhookRecord
  readonly url: string
  readonly secret: string
}

/** Rejects with FleetError 'conflict' when url and secret must be given again, 'unavailable' when another key sealed them. */
export async function openTarget(sealing: Sealing, webhook: WebhookRecord): Promise<Target> {
  const { sealedUrl, sealedSecret } = webhook
  if (sealedUrl === null || sealedSecret === null)
    throw new FleetError(
      'conflict',
      'webhook',
      'its url and secret were forgotten when the secret key was reset; give them again',
    )
  const url = await sealing.open(sealedUrl, sealedPurposes.webhookUrl)
  return { webhook, url, secret: await sealing.open(sealedSecret, sealedPurposes.webhookSecret) }
}

/** Rejects when the signal fires. */
export function sendMessage(
  service: StateService,
  { webhook, url, secret }: Target,
  message: Message,
  signal: AbortSignal,
): Promise<Attempt> {
  const body = composeBody(message, webhook.format)
  const signature = signBody(body, secret, Math.floor(service.now() / 1000))
  const rules = rulesFor(service, webhook.organizationId)
  return sendDelivery({ url, body, signature, rules, signal })
}
