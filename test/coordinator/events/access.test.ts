/** Access to event streams and their limits: tokens, sessions, permissions, quotas. */
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

void t.test('revoked access ends event streams', async (t) => {
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

void t.test('a changed password ends the streams of its account only', async (t) => {
  const { ann, ben, base } = await startAcme(t)
  const [bens, anns] = [await listen(t, base, ben), await listen(t, base, ann)]

  await ben.call(204, 'PUT', '/auth/password', { old: password, new: `${password} indeed` })

  await eventually('the stream ends', () => bens.closed)
  t.notOk(anns.closed)
})

void t.test('a stream ends with its token; the next stream resumes it', async (t) => {
  const { ann, openSession, base, controller } = await startAcme(t)
  const client = await listen(t, base, ann)
  await enrol(controller, 'edge-1')
  await heard(client, 'agent', { name: 'edge-1' })

  controller.advance(601_000)

  await eventually('the stream ends', () => client.closed)
  await enrol(controller, 'edge-2')
  const again = await openSession('ann', 'acme')
  const next = await listen(t, base, { ...again, lastEventId: client.lastId })
  await heard(next, 'agent', { name: 'edge-2' })
  t.notOk(next.of('agent').some(({ data }) => data['name'] === 'edge-1'))
})

void t.test('an open stream follows changes of permissions', async (t) => {
  const tenants = await startAcme(t)
  const { ann, ben, base, controller, organizationId } = tenants
  const [bens, anns] = [await listen(t, base, ben), await listen(t, base, ann)]
  t.equal(bens.status, 200, 'a user without permissions gets no events')
  await enrol(controller, 'edge-1', { organizationId })
  await heard(anns, 'agent', { name: 'edge-1' })

  const permission = await grant(tenants.system, ben, organizationId, 'agent')
  let count = 1
  await eventually('Ben gets agent events', async () => {
    await enrol(controller, `edge-${++count}`, { organizationId })
    return bens.of('agent').length > 0
  })
  t.ok(bens.events.every(({ event }) => event === 'agent'))
  await grant(tenants.system, ben, organizationId, 'apilog')
  await eventually('Ben gets API log events', async () => {
    await addLog(controller, ++count, organizationId)
    return bens.of('apilog').length > 0
  })

  await tenants.system.call(204, 'DELETE', `/permissions/${idOf(permission)}`)
  await eventually('Ben gets no more agent events', async () => {
    const name = `edge-${++count}`
    await enrol(controller, name, { organizationId })
    await heard(anns, 'agent', { name })
    // A later event that Ben gets: the other one would have arrived before it.
    await addLog(controller, count, organizationId)
    await heard(bens, 'apilog', { msg: `call ${count}` })
    return !bens.of('agent').some(({ data }) => data['name'] === name)
  })
  t.notOk(bens.closed)
})

void t.test('an API token gets only events of its permissions', async (t) => {
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
  await eventually('the stream ends', () => client.closed)
})

void t.test('a client that stops reading is cut off, blocks no other and can resume', async (t) => {
  const { system, base, controller } = await startAcme(t)
  const [slow, quick] = [await listen(t, base, system), await listen(t, base, system)]
  const start = slow.lastId
  slow.pause()
  const { queries } = controller.service.store
  // Texts of 100 kB: together more than the connection and its buffer limit hold.
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
  await eventually('the slow client is cut off', async () => {
    await queries.insertInto('apiLogs').values(lines).execute()
    rounds++
    await eventually('the other gets all', () => quick.of('apilog').length >= rounds * lines.length)
    return controller.hub.count < 2
  })
  slow.resume()
  await eventually('the slow client is closed', () => slow.closed)
  t.notOk(quick.closed)

  const lastEventId = slow.lastId || start
  const again = await listen(t, base, { ...system, lastEventId })
  await eventually('the slow client has the rest', () => again.lastId >= quick.lastId)
  t.strictSame(
    again.of('apilog').map(({ id }) => id),
    quick
      .of('apilog')
      .map(({ id }) => id)
      .filter((id) => id > lastEventId),
  )
})

void t.test('the number of listeners of an account is limited', async (t) => {
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
  await eventually('a listener has ended', () => controller.hub.count < listenersOfAccount + 1)
  t.equal((await listen(t, base, ann)).status, 200)
})

void t.test(
  'listeners of an organization are limited by its quota, independent of others',
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

  await eventually('the stream ends', () => client.closed)
  t.equal((await listen(t, base, ann)).status, 200, 'a new stream is answered and ended')
})

void t.test('the API document describes the event stream', async (t) => {
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

void t.test('invalid requests are refused before the stream begins', async (t) => {
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
  t.equal(await ask(ben, '?also=tag,file'), 200, 'a user without permissions gets neither')
  for (const also of ['', 'agent', 'file,', 'file;tag', 'constructor'])
    t.equal(await ask(ann, `?also=${also}`), 400, also)
  t.equal(await ask(ann, '?other=1'), 400)
  const posted = await controller.call('POST', '/api/v1/events', ann)
  t.equal(posted.status, 405)
  const head = await controller.call('HEAD', '/api/v1/events', ann)
  t.match([head.status, head.headers.get('content-type')], [200, /^text\/event-stream/])
  await eventually('HEAD opens no listener', () => controller.hub.count === 0)
})
