/** Events of edits, for each store: on request only, in the form of lists, and visible to whom. */
import type { Test } from 'tap'
import { insertConsoleGroup } from '../../../src/coordinator/console/groups/group-queries.js'
import { heard, listen } from '../../support/event-client.js'
import { grant, idOf, rows, startTenants } from '../identity/people.js'
import { addLog } from './events.contract.js'

const query = '?also=file,vclgroup,domain,tag'

export function editEventsContract(t: Test, makeUrl: () => Promise<string>): void {
  void t.test('edits are sent in the form of lists to clients that ask for them', async (t) => {
    const { controller, system } = await startTenants(t, {
      storeUrl: await makeUrl(),
      withEvents: true,
    })
    const { call } = system
    const client = await listen(t, controller.base, { ...system, query })
    const silent = await listen(t, controller.base, system)

    const file = idOf(await call(201, 'POST', '/files', { name: 'a.vcl', source: 'vcl 4.1;' }))
    await heard(client, 'file', { id: file, version: 1 })
    await call(200, 'PUT', `/files/${file}`, { source: 'vcl 4.1; # next' })
    const edited = await heard(client, 'file', { id: file, version: 2 })
    t.strictSame([edited.data], rows(await call(200, 'GET', `/files?id=${file}`)))
    const domain = idOf(await call(201, 'POST', '/domains', { fqdn: 'a.example' }))
    const fqdn = await heard(client, 'domain', { id: domain })
    t.strictSame(fqdn.data, await call(200, 'GET', `/domains/${domain}`))
    const tag = idOf(await call(201, 'POST', '/tags', { name: 'eu' }))
    await call(200, 'PUT', `/tags/${tag}`, { name: 'us' })
    const renamed = await heard(client, 'tag', { id: tag, name: 'us' })
    t.strictSame(renamed.data, await call(200, 'GET', `/tags/${tag}`))

    const mainVCL = { id: file }
    const group = idOf(await call(201, 'POST', '/vclgroups', { name: 'shop', mainVCL }))
    const made = await heard(client, 'vclgroup', { id: group })
    t.strictSame(made.data, { id: group, name: 'shop', organization: null })
    await call(200, 'PUT', `/vclgroups/${group}`, { name: 'bazaar', domains: [{ id: domain }] })
    await heard(client, 'vclgroup', { id: group, name: 'bazaar' })
    for (const [type, path] of [
      ['vclgroup', `/vclgroups/${group}`],
      ['file', `/files/${file}`],
      ['domain', `/domains/${domain}`],
      ['tag', `/tags/${tag}`],
    ] as const) {
      await call(204, 'DELETE', path)
      await heard(client, type, { id: Number(path.split('/').at(-1)), deleted: true })
    }

    const ids = client.events.map(({ id }) => id)
    t.strictSame(
      ids,
      ids.map((_, at) => (ids[0] ?? 0) + at),
      'ids are consecutive',
    )
    await addLog(controller, 1)
    await heard(silent, 'apilog', { msg: 'call 1' })
    t.ok(
      silent.events.every(({ event }) => event === 'apilog'),
      'a client that asked for no further types',
    )
  })

  void t.test('a failed deploy and a stage are sent as edits of their group', async (t) => {
    const { controller, system } = await startTenants(t, {
      storeUrl: await makeUrl(),
      withEvents: true,
    })
    const { call } = system
    const mainVCL = {
      id: idOf(await call(201, 'POST', '/files', { name: 'a', source: 'nonsense' })),
    }
    const id = idOf(await call(201, 'POST', '/vclgroups', { name: 'shop', mainVCL }))
    const client = await listen(t, controller.base, { ...system, query: '?also=vclgroup' })
    const { queries } = controller.service.store

    await queries
      .insertInto('history')
      .values({
        groupId: id,
        organizationId: null,
        revision: null,
        at: 1,
        account: 'root',
        action: 'deploy',
        result: 'it does not compile',
        sources: '{}',
        sha: '',
      })
      .execute()

    await heard(client, 'vclgroup', { id })
    const { length } = client.of('vclgroup')
    const stage = { organizationId: null, revision: 1, sources: '{}', sha: '', stagedAt: 1 }
    await queries
      .insertInto('stages')
      .values({ groupId: id, ...stage })
      .execute()
    await queries.deleteFrom('stages').execute()
    await addLog(controller, 1)
    await heard(client, 'apilog', { msg: 'call 1' })
    t.ok(client.of('vclgroup').length > length)
  })

  void t.test('an edit is sent only to callers that may read it', async (t) => {
    const tenants = await startTenants(t, { storeUrl: await makeUrl(), withEvents: true })
    const { controller, system } = tenants
    const [organizationId] = [
      await tenants.makeOrganization('acme'),
      await tenants.makeOrganization('b'),
    ]
    const [ann, ben] = [await tenants.addPerson('ann', 'acme'), await tenants.addPerson('ben', 'b')]
    const reader = await tenants.addPerson('reader', 'acme')
    await grant(system, reader, organizationId, 'tag')
    await grant(system, reader, organizationId, 'apilog')
    const hear = ({ token }: { readonly token: string }) =>
      listen(t, controller.base, { token, query, lastEventId: 0 })
    const [anns, bens, readers] = [await hear(ann), await hear(ben), await hear(reader)]

    const file = idOf(await ann.call(201, 'POST', '/files', { name: 'a.vcl', source: 'x' }))
    const tag = idOf(await ann.call(201, 'POST', '/tags', { name: 'eu' }))
    const bens1 = idOf(await ben.call(201, 'POST', '/tags', { name: 'us' }))
    const fields = { name: 'members', description: '', overviewGroup: false }
    await controller.service.store.transaction((inside) =>
      insertConsoleGroup(inside, { organizationId, cacheKey: 'k' }, fields, 1),
    )
    await addLog(controller, 1, organizationId)

    await heard(anns, 'file', { id: file })
    await heard(anns, 'vclgroup', { name: 'members' })
    await heard(bens, 'tag', { id: bens1 })
    for (const client of [anns, readers]) await heard(client, 'apilog', { msg: 'call 1' })
    t.strictSame(
      readers.events.filter(({ event }) => event !== 'apilog').map(({ event }) => event),
      ['tag'],
      'only the type of its permission',
    )
    for (const client of [anns, readers])
      t.strictSame(
        client.of('tag').map(({ data }) => data['id']),
        [tag],
        'no tag of another organization',
      )
    t.strictSame(bens.of('file'), [], 'no file of another organization')
  })
}
