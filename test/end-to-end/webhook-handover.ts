/** Two coordinators and one webhook: the one that delivers dies while deliveries are queued, and the other one continues. */
import type { Test } from 'tap'
import {
  holdFrom,
  listIds,
  listNames,
  ok,
  startReceiver,
} from '../coordinator/webhooks/receiver.js'
import { eventually } from '../support/eventually.js'
import type { End, PairedSite } from './coordinator-pair.js'

export async function checkWebhookHandover(t: Test, { here, there }: PairedSite): Promise<void> {
  const receiver = await startReceiver(t)
  const { api } = here.coordinator
  const tag = await api.makeTag('handed-over')
  const webhook = { name: 'all', url: receiver.url, types: ['deployment'], filter: 'name=q-*' }
  const id = await api.make('/webhooks', webhook)
  const names = Array.from({ length: 9 }, (_, index) => `q-${index}`)
  const held = holdFrom(receiver, 'q-2')
  const makeSome = async (ends: readonly End[], some: readonly string[]): Promise<void> => {
    for (const [index, name] of some.entries())
      await ends[index % ends.length]?.coordinator.api.makeDeployment(name, tag)
  }
  await makeSome([here, there], names.slice(0, 6))
  await held
  const counts = await Promise.all([here, there].map(countDeliveries))
  t.equal(counts.filter((count) => count > 0).length, 1, 'one of them delivers')
  const [dies, lives] = counts[0] ? [here, there] : [there, here]

  await dies.coordinator.daemon.kill()
  receiver.answer = ok
  await makeSome([lives], names.slice(6))

  await eventually('all have arrived', () => listNames(receiver).length === names.length)
  t.same(listNames(receiver), names, 'in order')
  t.ok(
    listIds(receiver).every((ids) => ids.length === 1),
    'repeated deliveries keep their id',
  )
  t.equal(receiver.mostAtOnce, 1)
  t.equal((await lives.coordinator.api.call('DELETE', `/webhooks/${id}`)).status, 204)
  await dies.coordinator.start()
}

async function countDeliveries({ coordinator }: End): Promise<number> {
  const text = await (await fetch(`${coordinator.base}/metrics`)).text()
  const lines = text.matchAll(/^cachefleet_webhook_deliveries_total\{[^}]*\} (\d+)$/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}
