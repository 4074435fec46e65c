/** The API of tags, deployments, VCL groups, join tokens and the API log (docs/behaviour.md, Deployments and Deploy). */
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.js'
import { enrol, startClient, type Client, type Json } from './client.js'
import { placeGroup } from './placed-group.js'

const vcl = 'vcl 4.1;\nbackend default none;\n'
const unknownId = 987654321
let serial = 0
const unique = (prefix: string): string => `${prefix}-${++serial}`

interface Resource {
  readonly path: string
  readonly key: string
  readonly make: (client: Client, name: string) => Promise<Json>
}

const makeTag = (client: Client): Promise<Json> =>
  client.expect(201, 'POST', '/tags', { name: unique('tag') })
const makeFile = (client: Client): Promise<Json> =>
  client.expect(201, 'POST', '/vcls', { name: unique('main.vcl'), source: vcl })
const makeDeployment = async (client: Client, more: Json = {}): Promise<Json> =>
  client.expect(201, 'POST', '/deployments', {
    name: unique('deployment'),
    tags: [{ id: (await makeTag(client))['id'] }],
    ...more,
  })
const makeGroup = async (client: Client, more: Json = {}): Promise<Json> =>
  client.expect(201, 'POST', '/vclgroups', {
    name: unique('group'),
    mainVCL: { id: (await makeFile(client))['id'] },
    ...more,
  })

const resources: readonly Resource[] = [
  { path: '/tags', key: 'tag', make: (_, name) => Promise.resolve({ name }) },
  { path: '/files', key: 'file', make: (_, name) => Promise.resolve({ name, source: vcl }) },
  {
    path: '/deployments',
    key: 'deployment',
    make: async (client, name) => ({ name, tags: [{ id: (await makeTag(client))['id'] }] }),
  },
  {
    path: '/vclgroups',
    key: 'vclgroup',
    make: async (client, name) => ({ name, mainVCL: { id: (await makeFile(client))['id'] } }),
  },
]

void t.test('every resource follows the conventions', async (t) => {
  const client = await startClient(t)
  for (const resource of resources)
    await t.test(resource.path, (t) => keepsConventions(t, client, resource))
})

async function keepsConventions(t: Test, client: Client, { path, key, make }: Resource) {
  const name = unique('object')
  const made = await client.expect(201, 'POST', path, await make(client, name))
  const at = `${path}/${String(made['id'])}`
  t.match(made, { name, organization: null, created: /^\d{4}-.*\.\d{3}Z$/ })
  t.same(await client.expect(200, 'GET', at), made, 'GET returns the answer of POST')

  t.same(await client.expect(200, 'PUT', at, {}), made, 'PUT {} changes nothing')
  const back = await client.expect(200, 'PUT', at, made)
  t.same({ ...back, updated: made['updated'] }, made, 'the body of GET can be PUT back')
  t.equal((await client.expect(400, 'PUT', at, { id: 1e9 }))['errorKey'], key)

  for (const [body, errorMsg] of [
    [{ bogus: 1 }, /bogus/],
    [{ name: null }, /name/],
    [{ name: '' }, /name/],
    [{ name: 'a\u2028b' }, /name/],
    [{ name: 'n'.repeat(256) }, /name/],
  ] as const)
    t.match(await client.expect(400, 'PUT', at, body), { errorKey: key, errorMsg })
  const nameless = { ...(await make(client, '')) }
  Reflect.deleteProperty(nameless, 'name')
  t.match(await client.expect(400, 'POST', path, nameless), { errorMsg: /name is missing/ })

  t.match(await client.expect(409, 'POST', path, await make(client, name)), {
    errorKey: key,
    errorMsg: /is taken/,
  })
  const other = await client.expect(201, 'POST', path, await make(client, unique('object')))
  await client.expect(409, 'PUT', at, { name: other['name'] })
  const renamed = await client.expect(200, 'PUT', at, { name: name.toUpperCase() })
  t.equal(renamed['name'], name.toUpperCase(), 'names differ by case')

  const listed = await client.list(`${path}?id=${String(made['id'])}`)
  t.equal(listed.length, 1)
  t.match(listed[0], { name: name.toUpperCase() })
  const page = await client.send('GET', `${path}?sort=name:desc&take=1`)
  t.equal(Number(page.headers.get('x-total-count')) > 1, true)
  t.match(await client.expect(400, 'GET', `${path}?nosuch=1`), { errorMsg: /nosuch/ })
  t.match(await client.expect(400, 'GET', `${path}?sort=nosuch`), { errorMsg: /sort/ })

  await client.expect(204, 'DELETE', at)
  for (const method of ['GET', 'PUT', 'DELETE'])
    t.match(await client.expect(404, method, at), {
      errorKey: key,
      errorMsg: `${String(made['id'])} was not found`,
    })
}

void t.test('references are written as {id} and returned as {id, name}', async (t) => {
  const client = await startClient(t)
  const tag = await makeTag(client)
  const make = (reference: unknown) =>
    client.send('POST', '/deployments', { name: unique('d'), tags: [reference] })

  for (const reference of [{ id: tag['id'] }, tag, { ID: tag['id'], name: 'ignored' }]) {
    const { status, body } = await make(reference)
    t.equal(status, 201)
    t.same(body['tags'], [{ id: tag['id'], name: tag['name'] }])
  }
  for (const id of [unknownId, -1, 0, 'x', null, 1.5, 1e30]) {
    const { status, body } = await make({ id })
    t.equal(status, 400, `tags: ${String(id)}`)
    t.match(body, { errorKey: 'deployment', errorMsg: /tags/ })
  }
  for (const key of ['mainVCL', 'includes', 'domains', 'deployments']) {
    const reference = { id: unknownId }
    const body = await client.expect(400, 'POST', '/vclgroups', {
      name: unique('g'),
      mainVCL: { id: (await makeFile(client))['id'] },
      [key]: key === 'mainVCL' ? reference : [reference],
    })
    t.match(body, { errorKey: 'vclgroup', errorMsg: new RegExp(`^${key}.*${unknownId}`) })
  }
  t.match((await make({ id: tag['id'], bogus: 1 })).body, { errorMsg: /bogus/ })
})

void t.test('an object in use cannot be deleted; the refusal names its users', async (t) => {
  const client = await startClient(t)
  const tag = await makeTag(client)
  const main = await makeFile(client)
  const include = await client.expect(201, 'POST', '/files', { name: 'part', source: '# part\n' })
  const deployment = await makeDeployment(client, { tags: [{ id: tag['id'] }] })
  const group = await makeGroup(client, {
    mainVCL: { id: main['id'] },
    includes: [{ id: include['id'] }],
    deployments: [{ id: deployment['id'] }],
  })

  for (const [path, object, user] of [
    ['/tags', tag, deployment],
    ['/files', main, group],
    ['/files', include, group],
    ['/deployments', deployment, group],
  ] as const) {
    const body = await client.expect(409, 'DELETE', `${path}/${String(object['id'])}`)
    t.match(body, { errorMsg: new RegExp(`in use by .*"${String(user['name'])}"`) })
  }

  await client.expect(204, 'DELETE', `/vclgroups/${String(group['id'])}`)
  await client.expect(204, 'DELETE', `/deployments/${String(deployment['id'])}`)
  await client.expect(204, 'DELETE', `/tags/${String(tag['id'])}`)
})

void t.test('a deployment defaults to min 1 and max 1, and needs a tag', async (t) => {
  const client = await startClient(t)
  const tags = [{ id: (await makeTag(client))['id'] }]
  const made = await client.expect(201, 'POST', '/deployments', { name: 'one', tags })
  t.match(made, { min: 1, max: 1, state: 2, stateName: 'Inactive', agents: [] })
  const at = `/deployments/${String(made['id'])}`

  for (const wrong of [
    { min: 2 },
    { min: 0 },
    { max: 0 },
    { min: 1.5, max: 2 },
    { min: '1' },
    { tags: [] },
    { tags: null },
  ])
    t.equal((await client.send('PUT', at, wrong)).status, 400, JSON.stringify(wrong))
  await client.expect(400, 'POST', '/deployments', { name: 'none' })
  t.match(await client.expect(200, 'PUT', at, { min: 2, max: 3 }), { min: 2, max: 3 })
  t.match(await client.expect(200, 'PUT', at, { min: null }), { min: 1, max: 3 })

  t.equal((await client.list('/deployments?state=2&name=one')).length, 1)
  t.equal((await client.list('/deployments?stateName=Active')).length, 0)
  t.equal((await client.list(`/deployments?tags.id=${String(tags[0]?.id)}`)).length, 1)
})

void t.test('a group without domains is a root group; null resets, a list replaces', async (t) => {
  const client = await startClient(t)
  const file = await makeFile(client)
  const group = await makeGroup(client, {
    mainVCL: { id: file['id'], version: 1 },
    includes: [{ id: file['id'] }, { id: file['id'] }],
    keepOnFailure: false,
  })
  const at = `/vclgroups/${String(group['id'])}`
  const reference = { id: file['id'], name: file['name'] }
  t.match(group, { root: true, keepOnFailure: false, deployed: false, state: 2, revision: 0 })
  t.same(group['mainVCL'], { ...reference, version: 1 })
  t.same(group['includes'], [reference], 'without duplicates')
  t.same([group['domains'], group['agentStates'], group['staged']], [[], [], null])

  t.match(await client.expect(400, 'PUT', at, { root: false }), { errorMsg: /root/ })
  t.match(await client.expect(400, 'PUT', at, { mainVCL: { id: file['id'], version: 9 } }), {
    errorMsg: /mainVCL: version 9/,
  })
  t.match(await client.expect(400, 'PUT', at, { mainVCL: null }), { errorMsg: /mainVCL/ })
  const reset = await client.expect(200, 'PUT', at, {
    root: null,
    keepOnFailure: null,
    includes: null,
    domains: [],
    mainVCL: { id: file['id'] },
  })
  t.match(reset, { root: true, keepOnFailure: true, includes: [] })
  t.same(reset['mainVCL'], reference, 'without a version each deploy takes the newest')
  t.equal((await client.list(`/vclgroups?mainVCL.name=${String(file['name'])}`)).length, 1)
})

void t.test('the verbs of a group check their id, query and body', async (t) => {
  const client = await startClient(t)
  const deployment = await makeDeployment(client)
  const group = await makeGroup(client, { deployments: [{ id: deployment['id'] }] })
  const at = `/vclgroups/${String(group['id'])}`

  for (const verb of ['deploy', 'undeploy', 'validate'])
    t.match(await client.expect(404, 'PUT', `/vclgroups/${unknownId}/${verb}`), {
      errorKey: 'deploy',
      errorMsg: `${unknownId} was not found`,
    })
  for (const query of ['wait=x', 'wait=-1', 'wait=1.5', 'wait=601', 'wait=', 'percent=101'])
    t.match(await client.expect(400, 'PUT', `${at}/deploy?${query}`), { errorKey: 'deploy' })
  for (const body of [[], 'now', 1, true])
    for (const [verb, errorMsg] of [
      ['deploy', /must be a JSON object/],
      ['reload', /takes no body/],
    ] as const)
      t.match(await client.expect(400, 'PUT', `${at}/${verb}`, body), { errorMsg })
  t.match(await client.expect(503, 'PUT', `${at}/deploy?wait=1s`, {}), { errorKey: 'deploy' })
  t.match(await client.expect(200, 'GET', at), { deployed: true, state: 5, stateName: 'Orphan' })
  t.same(await client.expect(200, 'GET', `${at}/state`), { state: 5, stateName: 'Orphan' })
  t.match(await client.list(`${at}/history`), [{ revision: null, action: 'deploy' }])
  t.match(await client.list('/deployments?state=5'), [{ id: deployment['id'] }])
  t.match(await client.expect(409, 'DELETE', at), { errorKey: 'vclgroup', errorMsg: /undeploy/ })

  await client.expect(200, 'PUT', `${at}/undeploy?wait=5`)
  await client.expect(204, 'DELETE', at)
})

void t.test('a group or deployment below min is Error, not Orphan, if an agent fits', async (t) => {
  const client = await startClient(t)
  const { group, deployment } = await placeGroup(client, ['edge-1'])
  await enrol(client, 'reader', { tags: ['next'], description: { capabilities: ['report'] } })
  const [next] = await client.list('/tags?name=next')
  const later = await makeDeployment(client, { tags: [{ id: next?.['id'] }] })
  const at = `/vclgroups/${String(group['id'])}`
  const error = { state: 4, stateName: 'Error' }

  await client.expect(200, 'PUT', at, { deployments: [{ id: later['id'] }] })
  await client.expect(503, 'PUT', `${at}/deploy?wait=1s`)
  t.same(await client.expect(200, 'GET', `${at}/state`), error, 'it is placed by another one')
  t.match(await client.expect(200, 'GET', `/deployments/${String(later['id'])}`), error)

  const shared = `/deployments/${String(deployment['id'])}`
  await client.expect(200, 'PUT', `${shared}?force=true`, { min: 2, max: 2 })
  const other = await makeGroup(client, { deployments: [{ id: deployment['id'] }] })
  await client.expect(503, 'PUT', `/vclgroups/${String(other['id'])}/deploy?wait=1s`)
  t.match(await client.expect(200, 'GET', shared), error, 'one group is placed by it')
})

void t.test('the placement lists every agent with a reason', async (t) => {
  const client = await startClient(t)
  const agentId = await enrol(client, 'edge-1', { tags: ['web'] })
  await enrol(client, 'edge-2')
  const [web] = await client.list('/tags?name=web')
  const deployment = await makeDeployment(client, { tags: [{ id: web?.['id'] }] })
  const group = await makeGroup(client, { deployments: [{ id: deployment['id'] }] })

  const rows = await client.list(`/vclgroups/${String(group['id'])}/placement`)

  t.match(rows, [
    {
      agent: { id: agentId, name: 'edge-1' },
      deployment: { id: deployment['id'], name: deployment['name'] },
      chosen: true,
      reason: /./,
    },
    { agent: { name: 'edge-2' }, deployment: null, chosen: false, reason: /./ },
  ])
})

void t.test('an account can be PUT back with the organization of its creation', async (t) => {
  const client = await startClient(t)
  const password = 'long enough a word'
  const account = await client.expect(201, 'POST', '/accounts', { name: 'anna', password })
  const path = `/accounts/${String(account['id'])}`

  const changed = await client.expect(200, 'PUT', path, {
    organization: null,
    email: 'a@b.example',
  })
  t.match(changed, { email: 'a@b.example', organizations: [] })
})

void t.test('a join token is shown once, with tags by id or name', async (t) => {
  const client = await startClient(t)
  const tag = await makeTag(client)
  const expires = Math.floor(Date.now() / 1000) + 3600
  const made = await client.expect(201, 'POST', '/jointokens', {
    label: 'racks',
    maxUses: 2,
    expires,
    tags: [{ id: tag['id'] }, 'new-tag'],
    // A read-only key is accepted and ignored.
    updated: '2026-01-01T00:00:00.000Z',
  })
  const { token, ...shown } = made

  t.match(token, /^.{20,}$/)
  t.match(shown, { label: 'racks', maxUses: 2, uses: 0, expires, organization: null })
  t.match(shown['tags'], [{ name: tag['name'] }, { name: 'new-tag' }])
  t.same(await client.list('/jointokens?label=racks'), [shown])
  for (const wrong of [{ maxUses: 0 }, { expires: 1 }, { tags: [{ id: unknownId }] }])
    await client.expect(400, 'POST', '/jointokens', { label: 'wrong', ...wrong })
  for (const [key, wrong] of Object.entries({ label: '', tags: [''] }))
    t.match(await client.expect(400, 'POST', '/jointokens', { label: 'wrong', [key]: wrong }), {
      errorMsg: new RegExp(`^${key}: `),
    })
  await client.expect(204, 'DELETE', `/jointokens/${String(made['id'])}`)
  t.match(await client.expect(404, 'DELETE', `/jointokens/${String(made['id'])}`), {
    errorKey: 'jointoken',
  })
})

void t.test('the API log lists changes with a severity', async (t) => {
  const client = await startClient(t)
  const tag = await makeTag(client)
  await client.expect(404, 'DELETE', `/tags/${unknownId}`)

  const logs = await eventually('both entries', async () => {
    const found = await client.list('/apilogs?keyType=tag&sort=id')
    return found.length === 2 && found
  })

  t.match(logs, [
    { method: 'POST', path: '/api/v1/tags', status: 201, severity: 1, keyId: tag['id'] },
    { method: 'DELETE', status: 404, severity: 2, keyId: unknownId, account: 'root' },
  ])
})
