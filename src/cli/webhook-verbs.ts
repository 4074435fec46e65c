/** `cachefleet webhooks test|deliveries`: sends a test event, and lists deliveries with their results. */
import { requireFields } from './api-shapes.js'
import { exitCodes, type ExitCode } from './cli-error.js'
import { openObject } from './find-object.js'
import { showList, showObject } from './output.js'
import type { Invocation, Named } from './verb.js'

export async function testWebhook(invocation: Invocation, kind: Named): Promise<ExitCode> {
  const { api, path } = await openObject(invocation, kind)
  const { body } = await api.call({ method: 'POST', path: `${path}/test` })
  const delivery = requireFields(body)
  showObject(invocation.output, delivery)
  return delivery['state'] === 'delivered' ? exitCodes.done : exitCodes.refused
}

export async function showDeliveries(invocation: Invocation, kind: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, kind)
  await showList(invocation.output, await api.readList(`${path}/deliveries`), [
    ...['id', 'at', 'type', 'state', 'attempts', 'status', 'error'].map((field) => ({ field })),
  ])
}
