/** What the API offers `cachefleet apply`: owners of objects, planned placements, the schema of documents. */
import t, { type Test } from 'tap'
import { readOnlyKeys } from '../../../src/cli/apply/plain-fields.js'
import { fieldsOf } from '../../../src/cli/apply/wanted.js'
import { applyKinds, type ApplyKind } from '../../../src/cli/apply/apply-objects.js'
import { startPostgres } from '../../support/postgres.js'
import { ids, rows, startTenants, type Call, type Json } from '../identity/people.js'
import { enrol } from './client.js'

void t.test('every object has `managedBy`, and lists can be filtered by it', async (t) => {
  const { system } = await startTenants(t)
  const { call } = system
  const file = await call(201, 'POST', '/files', { name: 'f', source: 'vcl 4.1;' })
  const tag = await call(201, 'POST', '/tags', { name: 't' })
  const bodies: Readonly<Record<string, Json>> = {
    '/tags': { name: 'own' },
    '/files': { name: 'own', source: 'x' },
    '/domains': { fqdn: 'own.example' },
    '/deployments': { name: 'own', tags: [{ id: tag['id'] }] },
    '/vclgroups': { name: 'own', mainVCL: { id: file['id'] } },
  }
  for (const [path, body] of Object.entries(bodies)) {
    const plain = await call(201, 'POST', path, body)
    const at = `${path}/${String(plain['id'])}`
    t.equal(plain['managedBy'], null, path)
    const taken = await call(200, 'PUT', at, { managedBy: 'shop' })
    t.match(taken, { ...plain, managedBy: 'shop', updated: /Z$/ }, 'other fields are unchanged')
    t.match(await call(200, 'PUT', at, taken), { managedBy: 'shop' }, 'the body can be PUT back')
    t.match(await call(200, 'PUT', at, {}), { managedBy: 'shop' })
    t.same(await ids(call, `${path}?managedBy=shop`), [plain['id']])
    t.match(await call(400, 'PUT', at, { managedBy: 'a\nb' }), { errorMsg: /^managedBy: / })
    t.match(await call(200, 'PUT', at, { managedBy: null }), { managedBy: null })
    await call(204, 'DELETE', at)
    const made = await call(201, 'POST', path, { ...body, managedBy: 'shop' })
    t.match(made, { managedBy: 'shop' })
  }
})

void t.test('a plan predicts the later placement and changes nothing', async (t) => {
  await t.test('on SQLite', async (t) => {
    await foresee(t, await startFleet(t))
  })
  await t.test('on PostgreSQL', async (t) => {
    const postgres = await startPostgres(t)
    await foresee(t, await startFleet(t, await postgres.url()))
  })
})

async function foresee(t: Test, { call, tags }: Fleet): Promise<void> {
  const deployment = { name: 'web', min: 2, max: 2, tags: [{ id: tags['web'] }] }
  const shop = { name: 'shop', domains: ['Shop.Example'], deployments: ['web'] }
  const plan = {
    groups: [shop, { ...shop, name: 'blog', domains: [] }],
    deployments: [deployment],
  }
  const foreseen = rows((await call(200, 'POST', '/vclgroups/placement', plan))['groups'])

  t.match(foreseen[0], {
    name: 'shop',
    agents: [{ deployment: 'web', held: false, reason: null }, {}],
    shortage: null,
  })
  t.match(foreseen[1], {
    agents: { length: 1 },
    shortage: /deployment "web" needs 2 .* hold the/,
  })
  for (const path of ['/deployments', '/vclgroups', '/domains']) t.same(await ids(call, path), [])

  const made = await call(201, 'POST', '/deployments', deployment)
  const domain = await call(201, 'POST', '/domains', { fqdn: 'shop.example' })
  const file = await call(201, 'POST', '/files', { name: 'f', source: 'vcl 4.1;' })
  const group = await call(201, 'POST', '/vclgroups', {
    name: 'shop',
    mainVCL: { id: file['id'] },
    domains: [{ id: domain['id'] }],
    deployments: [{ id: made['id'] }],
  })
  const placement = rows(
    await call(200, 'GET', `/vclgroups/${String(group['id'])}/placement`),
  ).filter(({ chosen }) => chosen === true)
  t.same(agentsOf(placement), agentsOf(rows(foreseen[0]?.['agents'])))
}

void t.test('new tags match no agent, and unknown references are refused', async (t) => {
  const { call, tags } = await startFleet(t)
  const group = { name: 'g', domains: [], deployments: ['d'] }
  const deployment = { name: 'd', min: 1, max: 1, tags: [{ id: tags['web'] }] }
  const ask = (status: number, plan: Json): Promise<Json> =>
    call(status, 'POST', '/vclgroups/placement', {
      groups: [group],
      deployments: [deployment],
      ...plan,
    })
  const both = [{ id: tags['web'] }, { name: 'new' }]
  const answer = await ask(200, { deployments: [{ ...deployment, tags: both }] })
  t.match(answer, { groups: [{ agents: [], shortage: /needs 1 running agent/ }] })
  t.match(await ask(200, { groups: [{ ...group, deployments: [] }] }), {
    groups: [{ shortage: /has no deployments/ }],
  })
  t.match(await ask(400, { deployments: [] }), { errorMsg: /"d" is used by a group/ })
  t.match(await ask(400, { groups: [{ ...group, id: 99 }] }), { errorMsg: /99 was not found/ })
  t.match(await ask(400, { undeployed: [{ id: 99 }] }), { errorMsg: /99 was not found/ })
  t.match(await ask(400, { deployments: [{ ...deployment, tags: [{ id: 99 }] }] }), {
    errorMsg: /tags: 99 was not found/,
  })
  t.match(await ask(400, { groups: [{ ...group, domains: ['*'] }] }), { errorMsg: /fqdn/ })
})

void t.test(
  'a plan is limited to the own organization and needs read access to its types',
  async (t) => {
    const tenants = await startTenants(t)
    for (const name of ['red', 'blue']) await tenants.makeOrganization(name)
    const red = await tenants.addPerson('rita', 'red')
    const blue = await tenants.addPerson('bob', 'blue')
    const file = await red.call(201, 'POST', '/files', { name: 'f', source: 'vcl 4.1;' })
    const tag = await red.call(201, 'POST', '/tags', { name: 't' })
    const { id } = await red.call(201, 'POST', '/vclgroups', {
      name: 'g',
      mainVCL: { id: file['id'] },
    })
    const group = { id, name: 'g', domains: [], deployments: [] }
    const plan = { groups: [group], deployments: [] }
    await red.call(200, 'POST', '/vclgroups/placement', plan)
    await blue.call(400, 'POST', '/vclgroups/placement', plan)
    await tenants.system.call(400, 'POST', '/vclgroups/placement', plan)
    const deployments = [{ name: 'd', min: 1, max: 1, tags: [{ id: tag['id'] }] }]
    await blue.call(400, 'POST', '/vclgroups/placement', { groups: [], deployments })

    const reader = await tenants.addPerson('ron', 'red')
    await reader.call(403, 'POST', '/vclgroups/placement', plan)
    await grant(red.call, reader.id, 'vclgroup')
    t.match(await reader.call(403, 'POST', '/vclgroups/placement', plan), {
      errorMsg: /permission to read deployment/,
    })
    await grant(red.call, reader.id, 'deployment')
    await reader.call(200, 'POST', '/vclgroups/placement', plan)
  },
)

void t.test('the schema of documents has the fields that apply reads, per kind', async (t) => {
  const { controller } = await startTenants(t)
  const { status, body } = await controller.call('GET', '/docs/apply.json')
  t.equal(status, 200)
  const definitions = body['$defs'] as Readonly<
    Record<ApplyKind | 'set', { properties: Record<string, { readOnly?: boolean }> }>
  >
  t.same(Object.keys(definitions).toSorted(), [...applyKinds, 'files', 'set'].toSorted())
  for (const kind of applyKinds) {
    const { properties } = definitions[kind]
    const [ignored, written] = [true, false].map((isIgnored) =>
      Object.keys(properties).filter((key) => (properties[key]?.readOnly === true) === isIgnored),
    )
    const known = [...fieldsOf(kind).map(({ name }) => name), 'kind', 'organization']
    t.same(written?.toSorted(), known.toSorted(), kind)
    const unwritten = readOnlyKeys(kind).filter((key) => !known.includes(key))
    t.same(ignored?.toSorted(), unwritten.toSorted(), `${kind}, read-only`)
  }
})

interface Fleet {
  readonly call: Call
  /** Name → id. */
  readonly tags: Readonly<Record<string, unknown>>
}

/** Three agents with the tag web, one without; the default is a store in memory. */
async function startFleet(t: Test, storeUrl?: string): Promise<Fleet> {
  const { controller, system } = await startTenants(t, storeUrl === undefined ? {} : { storeUrl })
  for (const name of ['one', 'two', 'three']) await enrol(controller, name, { tags: ['web'] })
  await enrol(controller, 'other')
  const found = rows(await system.call(200, 'GET', '/tags'))
  return {
    call: system.call,
    tags: Object.fromEntries(found.map(({ name, id }) => [String(name), id])),
  }
}

async function grant(call: Call, account: number, type: string): Promise<void> {
  await call(201, 'POST', '/permissions', { account: { id: account }, type, read: true })
}

function agentsOf(places: readonly Json[]): readonly unknown[] {
  return places.map(({ agent }) => (agent as Json)['id']).toSorted()
}
