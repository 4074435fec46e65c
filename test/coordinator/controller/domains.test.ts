/** The domains API, groups with domains, and the visible part of the routing on a shared agent. */
import t from 'tap'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { readGroupRouting } from '../../../src/coordinator/deploying/routing.js'
import { recomposeDesired } from '../../../src/coordinator/fleet/desired-states.js'
import { savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { deleteUnusedSources, findSource } from '../../../src/coordinator/fleet/sources.js'
import { findGroup, writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { isUniqueViolation } from '../../../src/coordinator/store/violation.js'
import { startPostgres } from '../../support/postgres.js'
import { enrol, startClient, type Client, type Json } from './client.js'

void t.test('a domain follows the conventions of every resource', async (t) => {
  const client = await startClient(t)
  const made = await client.expect(201, 'POST', '/domains', { FQDN: 'Shop.Example' })
  const at = `/domains/${String(made['id'])}`
  t.match(made, { fqdn: 'shop.example', organization: null, created: /Z$/ })
  t.same(await client.expect(200, 'GET', at), made)
  t.same(await client.expect(200, 'PUT', at, made), made, 'the body of GET can be PUT back')
  t.same(await client.expect(200, 'PUT', at, {}), made)

  const refused = [
    'shop.example:80',
    'https://shop.example/',
    '*',
    'a.*.example',
    `${'a'.repeat(64)}.x`,
  ]
  for (const fqdn of [...refused, '', null, 7])
    for (const [method, path] of [
      ['POST', '/domains'],
      ['PUT', at],
    ] as const) {
      const { status, body } = await client.send(method, path, { fqdn })
      t.equal(status, 400, `${method} ${String(fqdn)}`)
      t.match(body, { errorKey: 'domain', errorMsg: /fqdn/ })
    }
  await client.expect(400, 'POST', '/domains', {})
  await client.expect(400, 'PUT', at, { id: 99 })
  t.match(await client.expect(400, 'PUT', at, { bogus: 1 }), { errorMsg: /bogus/ })
  for (const fqdn of ['shop.example', 'SHOP.example.'])
    t.match(await client.expect(409, 'POST', '/domains', { fqdn }), { errorMsg: /is taken/ })

  const wild = await client.expect(201, 'POST', '/domains', { fqdn: '*.shop.example' })
  await client.expect(409, 'PUT', at, { fqdn: '*.shop.example' })
  const idn = await client.expect(201, 'POST', '/domains', { fqdn: 'bücher.example' })
  t.equal(idn['fqdn'], 'xn--bcher-kva.example')
  t.equal((await client.list('/domains?fqdn=*.shop.example')).length, 1)
  t.equal((await client.list('/domains?fqdn=\\*.shop.example')).length, 1)
  t.same(
    (await client.list('/domains?sort=fqdn:desc')).map((domain) => domain['id']),
    [idn['id'], made['id'], wild['id']],
  )
  await client.expect(204, 'DELETE', at)
  await client.expect(404, 'GET', at)
})

void t.test('`root` is derived from the domains; any other value is refused', async (t) => {
  const client = await startClient(t)
  const { group, domain, file } = await seed(client)
  const at = `/vclgroups/${String(group['id'])}`
  const reference = { id: domain['id'], fqdn: 'shop.example' }
  t.match(group, { root: false })
  t.same(group['domains'], [reference])
  t.same(await client.expect(200, 'PUT', at, group), group, 'the body of GET can be PUT back')

  const main = { mainVCL: { id: file['id'] } }
  const domains = [{ id: domain['id'] }]
  for (const [method, path, body] of [
    ['PUT', at, { root: true }],
    ['PUT', at, { domains: [], root: false }],
    ['POST', '/vclgroups', { name: 'x', ...main, root: true, domains }],
    ['POST', '/vclgroups', { name: 'x', ...main, root: false }],
  ] as const)
    t.match(await client.expect(400, method, path, body), {
      errorKey: 'vclgroup',
      errorMsg: /^root is/,
    })
  const cleared = await client.expect(200, 'PUT', at, { domains: null })
  t.match(cleared, { root: true, domains: [] }, 'without `root` it is derived')
  t.match(await client.expect(200, 'PUT', at, { domains, root: false }), { root: false })
  t.match(await client.expect(200, 'PUT', at, { name: 'other' }), { root: false })
  const probe = { name: 'probe', path: '/', host: 'bank.example' }
  const rollout = { waves: [{ count: 1 }], gates: [probe] }
  for (const [path, body, errorKey] of [
    [at, { rollout }, 'vclgroup'],
    [`${at}/deploy`, { rollout }, 'deploy'],
  ] as const)
    t.match(await client.expect(400, 'PUT', path, body), {
      errorKey,
      errorMsg: /host is "bank.example"; it must be a name that the group answers for/,
    })

  t.equal((await client.list(`/vclgroups?domains.fqdn=shop.*&root=false`)).length, 1)
  t.equal((await client.list(`/vclgroups?domains.id=${String(domain['id'])}`)).length, 1)
  t.match(await client.expect(409, 'DELETE', `/domains/${String(domain['id'])}`), {
    errorKey: 'domain',
    errorMsg: /in use by VCL group "other"/,
  })
  t.same(await client.expect(200, 'GET', `${at}/routing`), { agents: [] })
  await client.expect(404, 'GET', '/vclgroups/987654/routing')
})

void t.test('an invalid stage is refused with the reason and changes nothing', async (t) => {
  const client = await startClient(t)
  const { group, domain, file, deployment } = await seed(client)
  const at = `/vclgroups/${String(group['id'])}`
  const agentId = await enrol(client, 'edge', { tags: ['canary', 'unused'] })
  const [canary] = await client.list('/tags?name=canary')
  const [other] = await client.list('/tags?name=shop.example')
  const tags = [{ id: canary?.['id'] }]

  for (const [body, key] of [
    [undefined, 'body'],
    [{}, 'tags'],
    [{ tags: [] }, 'tags'],
    [{ tags: null }, 'tags'],
    [{ tags: [{ id: 987654 }] }, 'tags'],
    [{ tags, bogus: 1 }, 'bogus'],
    [{ tags, domains: [] }, 'domains'],
    [{ tags, domains: [{ id: 987654 }] }, 'domains'],
    [{ tags, mainVCL: { id: 987654 } }, 'mainVCL'],
    [{ tags, mainVCL: { id: file['id'], version: 9 } }, 'mainVCL'],
    [{ tags, includes: [{ id: 987654 }] }, 'includes'],
  ] as const)
    t.match((await client.expect(400, 'PUT', `${at}/stage`, body))['errorMsg'], key)
  const root = await client.expect(201, 'POST', '/vclgroups', {
    name: 'root',
    mainVCL: { id: file['id'] },
    deployments: [{ id: deployment['id'] }],
  })
  const atRoot = `/vclgroups/${String(root['id'])}`
  const named = { tags, domains: [{ id: domain['id'] }] }
  t.match(await client.expect(400, 'PUT', `${atRoot}/stage`, named), { errorMsg: /root group/ })
  for (const verb of ['stage', 'promote', 'delstage'])
    await client.expect(
      404,
      'PUT',
      `/vclgroups/987654/${verb}`,
      verb === 'stage' ? { tags } : undefined,
    )
  for (const verb of ['promote', 'delstage'])
    t.match(await client.expect(409, 'PUT', `${at}/${verb}`), {
      errorKey: 'deploy',
      errorMsg: /not staged/,
    })
  t.match(await client.expect(503, 'PUT', `${at}/stage`, { tags: [{ id: other?.['id'] }] }), {
    errorMsg: /no running agent/,
  })

  const { store } = client.service
  await store.decide((queries) =>
    savePlacements(queries, [
      createPlacement({
        group: { id: Number(root['id']), organizationId: null },
        agentId,
        position: 1,
        deploymentId: Number(deployment['id']),
        revision: 1,
        program: { name: 'cf-9-1', sha: 'a'.repeat(64), fqdns: ['shop.example'] },
      }),
    ]),
  )
  t.match(await client.expect(409, 'PUT', `${at}/stage`, { tags }), {
    errorMsg: /edge: another group has one of the domains there/,
  })
  await client.expect(200, 'PUT', `/files/${String(file['id'])}`, {
    source: 'vcl 4.1;\ninclude "gone.vcl";\n',
  })
  t.match(await client.expect(422, 'PUT', `${at}/stage`, { tags }), { errorMsg: /line 2 .*gone/ })

  const history = await client.list(`${at}/history`)
  t.ok(history.every(({ action, revision }) => action === 'stage' && revision === null))
  t.equal(history.length, 3, 'refusals before any cache was asked have entries')
  t.same(await client.expect(200, 'GET', at), group, 'the group is unchanged')
  t.same(await store.queries.selectFrom('stageUses').selectAll().execute(), [])
})

void t.test('on SQLite', async (t) => {
  await checkTables(t, await startClient(t))
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await checkTables(t, await startClient(t, await postgres.url()))
})

async function seed(client: Client, fqdn = 'shop.example') {
  const file = await client.expect(201, 'POST', '/vcls', { name: fqdn, source: 'vcl 4.1;\n' })
  const domain = await client.expect(201, 'POST', '/domains', { fqdn })
  const tag = await client.expect(201, 'POST', '/tags', { name: fqdn })
  const deployment = await client.expect(201, 'POST', '/deployments', {
    name: fqdn,
    tags: [{ id: tag['id'] }],
  })
  const group = await client.expect(201, 'POST', '/vclgroups', {
    name: fqdn,
    mainVCL: { id: file['id'] },
    domains: [{ id: domain['id'] }],
    deployments: [{ id: deployment['id'] }],
  })
  return { file, domain, deployment, group }
}

/** Checks the unique constraint, pinned domains, the routing VCL as a source, and its part visible to each caller. */
async function checkTables(t: Parameters<typeof startClient>[0], client: Client): Promise<void> {
  const { store } = client.service
  const agentId = await enrol(client, 'edge')
  const one = await seed(client, 'one.example')
  const two = await seed(client, 'two.example')
  const keys = await store.queries.selectFrom('vclGroups').select('cacheKey').execute()
  t.ok(keys.every(({ cacheKey }) => /^[0-9a-f]{32}$/.test(cacheKey)))
  t.equal(new Set(keys.map(({ cacheKey }) => cacheKey)).size, keys.length)

  const place = (made: { group: Json; deployment: Json }, fqdns: readonly string[]) => ({
    ...createPlacement({
      group: { id: Number(made.group['id']), organizationId: null },
      agentId,
      deploymentId: Number(made.deployment['id']),
      position: 0,
      revision: 1,
      program: { name: `cf-${String(made.group['id'])}-1`, sha: 'a'.repeat(64), fqdns },
    }),
  })
  const save = (...places: ReturnType<typeof place>[]) =>
    store.decide(async (queries) => {
      await savePlacements(queries, places)
      return recomposeDesired(queries, [agentId])
    })
  const serving = (candidate: ReturnType<typeof place>) => ({
    ...candidate,
    current: candidate.candidate,
    candidate: null,
    candidateState: null,
  })
  const first = place(one, ['one.example', '*.one.example'])
  await save(first)
  await save(serving(first))
  const second = place(two, ['two.example', 'one.example'])
  const refusal = await save(second).catch((error: unknown) => error)
  t.ok(isUniqueViolation(refusal), 'one.example is already placed there')
  const none = await store.queries
    .selectFrom('placements')
    .select('groupId')
    .where('groupId', '=', second.groupId)
    .execute()
  t.same(none, [], 'no placement is stored')
  await save(serving(place(two, ['two.example'])))

  const { desired } = await store.queries
    .selectFrom('agents')
    .select('desired')
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow()
  const { active, load, labels } = JSON.parse(desired) as {
    active: string
    load: { name: string; sha: string }[]
    labels: unknown[]
  } // a DesiredEngine
  t.equal(labels.length, 2)
  await store.decide(deleteUnusedSources)
  const sha = load.find(({ name }) => name === active)?.sha ?? ''
  const source = (await findSource(store.queries, sha))?.text
  t.match(source, '"one.example") { return (vcl(cf-l-')

  const group = { id: first.groupId }
  const whole = await readGroupRouting(client.service, { organizationId: null }, group)
  t.same(whole, [{ agent: { id: agentId, name: 'edge' }, source }])
  const { id: organizationId } = await store.queries
    .insertInto('organizations')
    .values({
      name: 'red',
      accessTtlSeconds: 1,
      refreshTtlSeconds: 1,
      locked: 0,
      createdAt: 1,
      updatedAt: 1,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await store.queries
    .updateTable('placements')
    .set({ organizationId })
    .where('groupId', '=', first.groupId)
    .execute()
  const [seen] = await readGroupRouting(client.service, { organizationId }, group)
  t.match(seen?.source, 'one.example')
  t.notMatch(seen?.source, 'two.example', 'names of other organizations are omitted')

  const pinned = (await findGroup(store.queries, { kind: 'all' }, second.groupId))?.domains ?? []
  await store.decide((queries) =>
    writeDesiredRelease(queries, second.groupId, {
      sources: {
        mainVCL: { id: 1, version: 1, name: 'x' },
        includes: [],
        releases: null,
        sha: '',
        programName: 'x',
        deploymentIds: [],
        domains: pinned,
      },
      pending: true,
      revision: 0,
    }),
  )
  const at = `/domains/${String(two.domain['id'])}`
  await client.expect(200, 'PUT', `/vclgroups/${second.groupId}`, { domains: [] })
  t.match(await client.expect(409, 'PUT', at, { fqdn: 'three.example' }), {
    errorMsg: /deployed by/,
  })
  t.match(await client.expect(409, 'DELETE', at), {
    errorMsg: /deployed by VCL group "two.example"/,
  })
  await store.queries.deleteFrom('agents').where('id', '=', agentId).execute()
  const left = await store.queries.selectFrom('placementDomains').selectAll().execute()
  t.same(left, [], 'the rows of a deleted agent are deleted')
}
