/** Who may listen to events, for how long, and how much: tokens, sessions, permissions, bounds. */
import t from 'tap'
import { listenersOfAccount } from '../../../src/coordinator/events/event-hub.js'
import { heard, listen } from '../../support/event-client.js'
import { eventually } from '../../support/eventually.js'
import { enrol } from '../controller/client.js'
import { grant, idOf, password, rows, startTenants, type Person } from '../identity/people.js'
import { addLog } from './events.contract.js'

/** An organization `acme` with its administrator Ann and a regular user Ben without permissions. */
async function startAcme(t: Parameters<typeof startTenants>[0]) {
  const tenants = await startTenants(t, { withEvents: true })
  const organizationId = await tenants.makeOrganization('acme')
  const ann = await tenants.addPerson('ann', 'acme')
  const ben = await tenants.addPerson('ben', 'acme')
  return { ...tenants, organizationId, ann, ben, base: tenants.controller.base }
}

void t.test('whoever is revoked hears no more: the streams end', async (t) => {
  const tenants = await startAcme(t)
  const { system, ann, ben, base, organizationId } = tenants
  const lock = (locked: boolean) => system.call(200, 'PUT', `/accounts/${ben.id}`, { locked })
  const revocations: Record<string, (token: string) => Promise<unknown>> = {
    'a logout': (token) => tenants.as(token)(204, 'POST', '/auth/logout'),
    'deleted sessions': async () => {
      for (const session of rows(await ann.call(200, 'GET', '/sessions?account.name=ben')))
        await ann.call(204, 'DELETE', `/sessions/${idOf(session)}`)
    },
    'a locked account': () => lock(true),
    'a locked organization': async () =>
      system.call(200, 'PUT', `/organizations/${organizationId}`, { locked: true }),
  }
  for (const [name, revoke] of Object.entries(revocations)) {
    const { token } = await tenants.openSession('ben', 'acme')
    const clients = [await listen(t, base, { token }), await listen(t, base, { token })]
    await revoke(token)
    await eventually(`${name} ends it`, () => clients.every(({ closed }) => closed))
    t.equal((await listen(t, base, { token })).status, 401, name)
    await lock(false)
  }
})

void t.test('a changed password ends the streams of the account, and of no other', async (t) => {
  const { ann, ben, base } = await startAcme(t)
  const [bens, anns] = [await listen(t, base, ben), await listen(t, base, ann)]

  await ben.call(204, 'PUT', '/auth/password', { old: password, new: `${password} indeed` })

  await eventually('it ends', () => bens.closed)
  t.notOk(anns.closed)
})

void t.test('a stream ends with its token; the next one resumes it', async (t) => {
  const { ann, openSession, base, controller } = await startAcme(t)
  const client = await listen(t, base, ann)
  await enrol(controller, 'edge-1')
  await heard(client, 'agent', { name: 'edge-1' })

  controller.advance(601_000)

  await eventually('it ends', () => client.closed)
  await enrol(controller, 'edge-2')
  const again = await openSession('ann', 'acme')
  const next = await listen(t, base, { ...again, lastEventId: client.lastId })
  await heard(next, 'agent', { name: 'edge-2' })
  t.notOk(next.of('agent').some(({ data }) => data['name'] === 'edge-1'))
})

void t.test('what may be heard follows the permissions while it is heard', async (t) => {
  const tenants = await startAcme(t)
  const { ann, ben, base, controller, organizationId } = tenants
  const [bens, anns] = [await listen(t, base, ben), await listen(t, base, ann)]
  t.equal(bens.status, 200, 'who may read nothing hears nothing')
  await enrol(controller, 'edge-1', { organizationId })
  await heard(anns, 'agent', { name: 'edge-1' })

  const permission = await grant(tenants.system, ben, organizationId, 'agent')
  let count = 1
  await eventually('he hears of agents', async () => {
    await enrol(controller, `edge-${++count}`, { organizationId })
    return bens.of('agent').length > 0
  })
  t.ok(bens.events.every(({ event }) => event === 'agent'))
  await grant(tenants.system, ben, organizationId, 'apilog')
  await eventually('he hears of calls', async () => {
    await addLog(controller, ++count, organizationId)
    return bens.of('apilog').length > 0
  })

  await tenants.system.call(204, 'DELETE', `/permissions/${idOf(permission)}`)
  await eventually('he hears of agents no more', async () => {
    const name = `edge-${++count}`
    await enrol(controller, name, { organizationId })
    await heard(anns, 'agent', { name })
    // A later event that he hears: he would have heard the other one by now.
    await addLog(controller, count, organizationId)
    await heard(bens, 'apilog', { msg: `call ${count}` })
    return !bens.of('agent').some(({ data }) => data['name'] === name)
  })
  t.notOk(bens.closed)
})

void t.test('an API token hears what it was made for', async (t) => {
  const { ann, as, base, controller, organizationId } = await startAcme(t)
  const made = await ann.call(201, 'POST', '/sessions', {
    label: 'watcher',
    expire: Math.floor(Date.now() / 1000) + 3600,
    permissions: [{ type: 'agent', read: true, write: false }],
  })
  const token = String(made['accessToken'])
  const client = await listen(t, base, { token, lastEventId: 0 })

  await ann.call(201, 'POST', '/tags', { name: 'one' })
  await enrol(controller, 'edge-1', { organizationId })

  await heard(client, 'agent', { name: 'edge-1' })
  t.strictSame(client.of('apilog'), [])
  await as(token)(204, 'POST', '/auth/logout')
  await eventually('it ends', () => client.closed)
})

void t.test('who takes nothing is cut off, holds up nobody, and resumes', async (t) => {
  const { system, base, controller } = await startAcme(t)
  const [slow, quick] = [await listen(t, base, system), await listen(t, base, system)]
  const start = slow.lastId
  slow.pause()
  const { queries } = controller.service.store
  // Texts of 100 kB: more than the connection and its bound hold together.
  const lines = Array.from({ length: 20 }, (_, at) => ({
    organizationId: null,
    createdAt: Date.now(),
    severity: 1,
    keyType: 'x',
    keyId: null,
    traceId: 'trace',
    account: 'root',
    method: 'POST',
    path: '/',
    status: 201,
    msg: `line ${at} ${'x'.repeat(100_000)}`,
  }))
  let rounds = 0
  await eventually('it is cut off', async () => {
    await queries.insertInto('apiLogs').values(lines).execute()
    rounds++
    await eventually('the other hears', () => quick.of('apilog').length >= rounds * lines.length)
    return controller.hub.count < 2
  })
  slow.resume()
  await eventually('it knows', () => slow.closed)
  t.notOk(quick.closed)

  const lastEventId = slow.lastId || start
  const again = await listen(t, base, { ...system, lastEventId })
  await eventually('it has the rest', () => again.lastId >= quick.lastId)
  t.strictSame(
    again.of('apilog').map(({ id }) => id),
    quick
      .of('apilog')
      .map(({ id }) => id)
      .filter((id) => id > lastEventId),
  )
})

void t.test('an account has so many listeners and no more', async (t) => {
  const { ann, ben, base, controller } = await startAcme(t)
  const clients = await Promise.all(
    Array.from({ length: listenersOfAccount }, () => listen(t, base, ann)),
  )
  t.ok(clients.every(({ status }) => status === 200))

  const refused = await listen(t, base, ann)

  t.equal(refused.status, 429)
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await listen(t, base, ben)).status, 200)
  clients[0]?.close()
  await eventually('room again', () => controller.hub.count < listenersOfAccount + 1)
  t.equal((await listen(t, base, ann)).status, 200)
})

void t.test(
  'an organization has as many listeners as its quota says, and another its own',
  async (t) => {
    const { ann, ben, base, system, organizationId, makeOrganization, addPerson } =
      await startAcme(t)
    await makeOrganization('blue')
    const blue = await addPerson('bea', 'blue')
    const at = `/organizations/${organizationId}`
    await system.call(200, 'PUT', at, { quotas: { listeners: 2 } })
    for (const person of [ann, ben]) t.equal((await listen(t, base, person)).status, 200)

    const refused = await fetch(`${base}/api/v1/events`, {
      headers: { authorization: `Bearer ${ann.token}` },
    })

    t.equal(refused.status, 429)
    t.match(
      await refused.text(),
      /organization \\"acme\\" has its quota of 2 listeners of events; end some/,
    )
    for (const other of [blue, system]) t.equal((await listen(t, base, other)).status, 200)
  },
)

void t.test('a coordinator that stops ends its streams', async (t) => {
  const { ann, base, controller } = await startAcme(t)
  const client = await listen(t, base, { ...ann, lastEventId: 0 })
  await addLog(controller, 1)

  await controller.hub.close()

  await eventually('it ends', () => client.closed)
  t.equal((await listen(t, base, ann)).status, 200, 'asked meanwhile: answered and ended')
})

void t.test('the documentation has the stream as a stream', async (t) => {
  const { controller } = await startAcme(t)
  const { text } = await controller.call('GET', '/docs/openapi.json')
  const document = JSON.parse(text) as { paths: Record<string, unknown> } // OpenAPI
  t.match(document.paths['/api/v1/events'], {
    get: {
      parameters: [{ name: 'also' }, { name: 'live' }, { name: 'Last-Event-ID', in: 'header' }],
      responses: { 200: { content: { 'text/event-stream': {} } }, default: {} },
    },
  })
})

void t.test('what is asked wrongly is refused before the stream begins', async (t) => {
  const tenants = await startAcme(t)
  const { ann, ben, system, base, controller, organizationId } = tenants
  const own = await enrol(controller, 'edge-1', { organizationId })
  const foreign = await enrol(controller, 'edge-2', {
    organizationId: await tenants.makeOrganization('other'),
  })
  const ask = async ({ token }: Person, query: string) => {
    const client = await listen(t, base, { token, query })
    client.close()
    return client.status
  }
  t.equal(await ask(ann, `?live=${own}`), 200)
  t.equal(await ask(ann, `?live=${foreign}`), 400)
  t.equal(await ask(system, `?live=${own},${foreign}`), 200)
  t.equal(await ask(ben, `?live=${own}`), 403)
  for (const live of ['', 'x', '1;2', '-1', '1,,2', Array(101).fill('1').join()])
    t.equal(await ask(ann, `?live=${live}`), 400, live.slice(0, 10))
  t.equal(await ask(ben, '?also=tag,file'), 200, 'who may read neither hears neither')
  for (const also of ['', 'agent', 'file,', 'file;tag', 'constructor'])
    t.equal(await ask(ann, `?also=${also}`), 400, also)
  t.equal(await ask(ann, '?other=1'), 400)
  const posted = await controller.call('POST', '/api/v1/events', ann)
  t.equal(posted.status, 405)
  const head = await controller.call('HEAD', '/api/v1/events', ann)
  t.match([head.status, head.headers.get('content-type')], [200, /^text\/event-stream/])
  await eventually('HEAD listens not', () => controller.hub.count === 0)
})
