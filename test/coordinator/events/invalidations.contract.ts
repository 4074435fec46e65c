/** Events of invalidations, for each store: their times, in the form of API lists, and their receivers. */
import type { Test } from 'tap'
import { heard, listen } from '../../support/event-client.js'
import { eventually } from '../../support/eventually.js'
import { enrol } from '../controller/client.js'
import { grant, idOf, rows, startTenants, type Person } from '../identity/people.js'
import { addLog } from './events.contract.js'

const ban = { type: 'ban', expression: 'obj.http.x ~ y', target: { all: true } }

export function invalidationEventsContract(t: Test, makeUrl: () => Promise<string>): void {
  void t.test('events of an invalidation match the API list until its deletion', async (t) => {
    const { controller, system } = await startTenants(t, {
      storeUrl: await makeUrl(),
      withEvents: true,
    })
    await enrol(controller, 'edge-1')
    const client = await listen(t, controller.base, system)

    const id = idOf(await system.call(202, 'POST', '/invalidations', ban))
    const made = await heard(client, 'invalidation', { id, finished: null, done: 0, total: 1 })
    t.strictSame([made.data], await list(system, id))
    await system.call(200, 'PUT', `/invalidations/${id}/cancel`)
    const ended = await heard(client, 'invalidation', { id, stateName: 'Cancelled' })
    t.strictSame([ended.data], await list(system, id))
    const { length } = client.of('invalidation')
    await system.call(202, 'PUT', `/invalidations/${id}/retry`)
    await eventually('the retry is sent', () => client.of('invalidation').length > length)
    t.match(client.of('invalidation').at(-1)?.data, { id, finished: null })
    await system.call(200, 'PUT', `/invalidations/${id}/cancel`)
    await system.call(204, 'DELETE', `/invalidations/${id}`)
    await heard(client, 'invalidation', { id, deleted: true })

    const urls = Array.from({ length: 500 }, (_, at) => `http://shop.example/${at}`)
    const body = { type: 'purge', urls, target: { all: true } }
    const long = idOf(await system.call(202, 'POST', '/invalidations', body))
    const { data } = await heard(client, 'invalidation', { id: long, type: 'purge', total: 1 })
    t.notOk('urls' in data, 'long fields are omitted')
  })

  void t.test('an invalidation is sent only to callers that may read it', async (t) => {
    const tenants = await startTenants(t, { storeUrl: await makeUrl(), withEvents: true })
    const { controller, system } = tenants
    const [organizationId, otherId] = [
      await tenants.makeOrganization('acme'),
      await tenants.makeOrganization('other'),
    ]
    const [ann, ben] = [
      await tenants.addPerson('ann', 'acme'),
      await tenants.addPerson('ben', 'other'),
    ]
    const reader = await tenants.addPerson('reader', 'acme')
    await grant(system, reader, organizationId, 'apilog')
    const listenTo = ({ token }: Person) => listen(t, controller.base, { token, lastEventId: 0 })
    const [anns, bens, readers, root] = [
      await listenTo(ann),
      await listenTo(ben),
      await listenTo(reader),
      await listenTo(system),
    ]

    const own = idOf(await ann.call(202, 'POST', '/invalidations', ban))
    const systems = idOf(await system.call(202, 'POST', '/invalidations', ban))

    await heard(root, 'invalidation', { id: systems })
    t.match(await heard(root, 'invalidation', { id: own }), await heard(anns, 'invalidation', {}))
    // A later event for each: the others would have arrived before it.
    await addLog(controller, 1, otherId)
    await addLog(controller, 2, organizationId)
    await heard(bens, 'apilog', { msg: 'call 1' })
    await heard(readers, 'apilog', { msg: 'call 2' })
    await heard(anns, 'apilog', { msg: 'call 2' })
    t.strictSame(bens.of('invalidation'), [], 'no event of another organization')
    t.strictSame(readers.of('invalidation'), [], 'no event without the permission')
    t.strictSame(
      anns.of('invalidation').map(({ data }) => data['id']),
      [own],
    )
  })
}

/** The list without `results`, which events do not have. */
async function list(person: Person, id: number): Promise<unknown> {
  const listed = rows(await person.call(200, 'GET', `/invalidations?id=${id}`))
  return listed.map((entry) =>
    Object.fromEntries(Object.entries(entry).filter(([key]) => key !== 'results')),
  )
}
