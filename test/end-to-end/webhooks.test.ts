/** A coordinator that is killed while deliveries wait: none is lost, and they come in order with the ids that they had. */
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

void t.test('killed with a queue, a coordinator delivers it when it is back', async (t) => {
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
  // Nobody has put these into a queue when they are answered.
  for (const name of names.slice(8)) await api.makeDeployment(name, tag)

  await coordinator.daemon.kill()
  receiver.answer = ok
  await coordinator.start()

  await eventually('all came', () => listNames(receiver).length === names.length)
  t.same(listNames(receiver), names, 'in order')
  t.ok(
    listIds(receiver).every((ids) => ids.length === 1),
    'what came again has its id',
  )
  const read = async (path = ''): Promise<unknown> =>
    JSON.parse((await api.call('GET', `/webhooks/${id}${path}`)).text)
  await eventually('nothing waits', async () => {
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
