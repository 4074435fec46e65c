/** Asks a webhook for the verdict of a rollout gate: posts the rollout once, outside the queue, and reads the response. */
import type { AskWebhook } from '../rollouts/webhook-gates.js'
import { toListedRollout, viewRollout } from '../rollouts/rollout-view.js'
import { readGateAnswer } from './read-gate-answer.js'
import { sendLogged } from './send-logged.js'
import { findEnabledWebhook } from './webhook-queries.js'
import type { WebhookTools } from './webhook-tools.js'

export function createGateAsker(tools: WebhookTools): AskWebhook {
  const { service } = tools
  return async ({ webhookId, rollout }, signal) => {
    const webhook = await findEnabledWebhook(service.store.queries, webhookId)
    if (webhook?.organizationId !== rollout.organizationId)
      return { verdict: 'inconclusive', reason: 'the webhook is gone, or turned off' }
    const data = JSON.stringify(toListedRollout(await viewRollout(service, rollout)))
    const { attempt } = await sendLogged(tools, webhook, { type: 'gate', data, signal })
    return readGateAnswer(attempt)
  }
}
