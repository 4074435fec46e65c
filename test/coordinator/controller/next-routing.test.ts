/** `GET /vclgroups/{id}/routing?next=true`: the routing that a deploy of the group in its current state would produce. */
import t from 'tap'
import { readNextRouting } from '../../../src/coordinator/deploying/routing.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { findGroup } from '../../../src/coordinator/fleet/group-queries.js'
import { enrol, startClient, type Client, type Json } from './client.js'

void t.test('the routing of the next deploy can be previewed without any change', async (t) => {
  const client = await startClient(t)
  const edge = await enrol(client, 'edge', { tags: ['here'] })
  await enrol(client, 'elsewhere', { tags: ['there'] })
  const [tag] = await client.list('/tags?name=here')
  const shop = await makeGroup(client, { fqdn: 'shop.example', tag })
  const other = await makeGroup(client, { fqdn: 'other.example', tag })
  await place(client, other, edge, ['other.example'])
  const routingOf = (group: Json, query = '') =>
    client.expect(200, 'GET', `/vclgroups/${String(group['id'])}/routing${query}`)
  const leadsTo = (fqdn: string, group: Json) =>
    `"${fqdn}") { return (vcl(cf-l-${String(group['id'])})); }`

  t.same(await routingOf(shop), { agents: [] })
  const next = await routingOf(shop, '?next=true')
  const [first, ...rest] = next['agents'] as { agent: Json; source: string }[]
  t.match(first, { agent: { id: edge, name: 'edge' } })
  t.same(rest, [], 'only agents of its placement')
  t.match(first?.source, leadsTo('shop.example', shop))
  t.match(first?.source, leadsTo('other.example', other), 'next to the current group')
  t.same(await routingOf(shop), { agents: [] }, 'nothing is stored')
  t.same(await routingOf(shop, '?next=false'), { agents: [] })

  await place(client, shop, edge, ['shop.example'])
  const domain = await client.expect(201, 'POST', '/domains', { fqdn: 'new.example' })
  const at = `/vclgroups/${String(shop['id'])}`
  await client.expect(200, 'PUT', at, { domains: [{ id: domain['id'] }] })
  const now = JSON.stringify(await routingOf(shop))
  const then = JSON.stringify(await routingOf(shop, '?next=true'))
  t.ok(now.includes('shop.example') && !now.includes('new.example'), 'the current routing')
  t.ok(then.includes('new.example') && !then.includes('shop.example'), 'the next routing')

  await client.expect(200, 'PUT', at, { domains: [] })
  t.same(await routingOf(shop, '?next=true'), { agents: [] }, 'a root group routes nothing')
  t.match(await client.expect(400, 'GET', `${at}/routing?next=maybe`), { errorMsg: /next/ })
})

void t.test('an organization sees no domains of others on a shared agent', async (t) => {
  const client = await startClient(t)
  const edge = await enrol(client, 'edge', { tags: ['here'] })
  const [tag] = await client.list('/tags?name=here')
  const other = await makeGroup(client, { fqdn: 'other.example', tag })
  await place(client, other, edge, ['other.example'])
  const { id } = await client.expect(201, 'POST', '/organizations', { name: 'red' })
  const organization = { id: Number(id) }
  const own = await makeGroup(client, { fqdn: 'own.example', tag, organization })
  const group = await findGroup(client.service.store.queries, { kind: 'all' }, Number(own['id']))
  if (!group) throw new Error('it was made')
  const member = {
    accountId: 1,
    accountName: 'x',
    sessionId: 1,
    role: 'regular',
    grants: {},
  } as const
  const read = (organizationId: number | null) =>
    readNextRouting(client.service, { ...member, organizationId }, group)

  const seen = JSON.stringify(await read(organization.id))
  const whole = JSON.stringify(await read(null))

  t.ok(seen.includes('own.example') && !seen.includes('other.example'), seen)
  t.ok(whole.includes('own.example') && whole.includes('other.example'), 'the administrator')
})

interface Parts {
  readonly fqdn: string
  readonly tag: Json | undefined
  readonly organization?: { readonly id: number }
}

async function makeGroup(client: Client, { fqdn, tag, organization }: Parts): Promise<Json> {
  const owner = organization ? { organization } : {}
  const file = await client.expect(201, 'POST', '/vcls', {
    name: fqdn,
    source: 'vcl 4.1;\n',
    ...owner,
  })
  const domain = await client.expect(201, 'POST', '/domains', { fqdn, ...owner })
  const deployment = await client.expect(201, 'POST', '/deployments', {
    name: fqdn,
    tags: [{ id: tag?.['id'] }],
    ...owner,
  })
  return client.expect(201, 'POST', '/vclgroups', {
    name: fqdn,
    mainVCL: { id: file['id'] },
    ...owner,
    domains: [{ id: domain['id'] }],
    deployments: [{ id: deployment['id'] }],
  })
}

/** Stores a placement as after a switch. */
async function place(
  { service }: Client,
  group: Json,
  agentId: number,
  fqdns: readonly string[],
): Promise<void> {
  const [deployment] = group['deployments'] as Json[]
  const program = { name: `cf-${String(group['id'])}-1`, sha: 'a'.repeat(64), fqdns }
  const candidate = createPlacement({
    group: { id: Number(group['id']), organizationId: null },
    agentId,
    deploymentId: Number(deployment?.['id']),
    position: 0,
    revision: 1,
    program,
  })
  await service.store.decide((queries) =>
    savePlacements(queries, [{ ...candidate, current: program, candidate: null }]),
  )
}
