/** A coordinator that is killed with queued deliveries: none is lost, and they arrive in order with their original ids. */
import t from 'tap'
import {
  holdFrom,
  listIds,
  listNames,
  ok,
  startReceiver,
} from '../coordinator/webhooks/receiver.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

void t.test('a coordinator that is killed delivers its queue after its restart', async (t) => {
  const coordinator = await startCoordinator(t)
  const { api } = coordinator
  const receiver = await startReceiver(t)
  const tag = await api.makeTag('web')
  const webhook = { name: 'all', url: receiver.url, types: ['deployment'], filter: 'name=q-*' }
  const id = await api.make('/webhooks', webhook)
  const names = Array.from({ length: 12 }, (_, index) => `q-${index}`)
  const held = holdFrom(receiver, 'q-3')
  for (const name of names.slice(0, 8)) await api.makeDeployment(name, tag)
  await held
  t.same(listNames(receiver), names.slice(0, 4), 'one at a time')
  // The calls for these are answered before the deliveries are queued.
  for (const name of names.slice(8)) await api.makeDeployment(name, tag)

  await coordinator.daemon.kill()
  receiver.answer = ok
  await coordinator.start()

  await eventually('all have arrived', () => listNames(receiver).length === names.length)
  t.same(listNames(receiver), names, 'in order')
  t.ok(
    listIds(receiver).every((ids) => ids.length === 1),
    'repeated deliveries keep their id',
  )
  const read = async (path = ''): Promise<unknown> =>
    JSON.parse((await api.call('GET', `/webhooks/${id}${path}`)).text)
  await eventually('the queue is empty', async () => {
    const { waiting } = (await read()) as { waiting: number }
    return waiting === 0
  })
  t.match(await read(), { dropped: 0, failing: false })
  const log = (await read('/deliveries')) as { state: string }[]
  t.same(
    log.map(({ state }) => state),
    names.map(() => 'delivered'),
  )
})
