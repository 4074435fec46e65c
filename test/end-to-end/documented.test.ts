/** Every call of the controller API answers as documented: once with a success, and once with a refusal (docs/behaviour.md, Documents). */
import t, { type Test } from 'tap'
import { answering } from '../support/observe-cache.js'
import { logIn, type ApiClient } from '../support/api-client.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
} from '../support/daemon.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { tryInvalidations } from './documented-invalidations.js'
import { tryRollouts } from './documented-rollouts.js'
import { eventually } from '../support/eventually.js'
import { createBrowser, startIdentityProvider } from '../support/identity-provider.js'
import { basic } from '../support/http-call.js'
import { startVarnishd } from '../support/varnishd.js'
import { openDocument, type Answered, type DocumentedApi, type Given } from './documented.js'

const password = 'long enough a word'
const source = answering('documented')

interface Harness {
  readonly coordinator: CoordinatorProcess
  readonly api: ApiClient
  readonly documented: DocumentedApi
  /** Rejects unless the call succeeds. */
  readonly done: (operationId: string, given?: Given) => Promise<Answered>
  /** Returns the id of the created object. */
  readonly made: (operationId: string, body: unknown) => Promise<number>
}

void t.test('live answers conform to the document', async (t) => {
  const coordinator = await startCoordinator(t, {
    words: [
      ...['--name', 'edge', '--simulate', '1', '--heartbeat', '1'],
      // No server listens there.
      ...['--engine', 'simulate', '--engine-http', '127.0.0.1:1'],
    ],
  })
  const { api, base } = coordinator
  const documented = await openDocument(base, api.token)
  const done: Harness['done'] = async (operationId, given) => {
    const answer = await documented.call(operationId, given)
    if (answer.status >= 400) throw new Error(`${operationId}: ${answer.status} ${answer.text}`)
    return answer
  }
  const made: Harness['made'] = async (operationId, body) =>
    Number((await done(operationId, { body })).body['id'])
  const harness: Harness = { coordinator, api, documented, done, made }

  await t.test('accounts and permissions', (t) => tryIdentity(t, harness))
  await t.test('objects and deploys', () => tryObjects(harness))
  await t.test('traffic of a real cache', (t) => tryTraffic(t, harness))
  t.same(idsOf(documented.without('success')), [], 'each call has succeeded')

  await t.test('refusals', () => tryRefusals(harness))
  t.same(idsOf(documented.without('error')), [], 'each call has been refused')
})

async function tryTraffic(t: Test, { coordinator, api, done }: Harness): Promise<void> {
  const cache = await startVarnishd(t)
  const host = startAgent(t, cache, {
    coordinatorUrl: `ws://127.0.0.1:${coordinator.port}`,
    name: 'real',
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  await eventually('the agent can read the log', async () => {
    const agent = await api.findAgent('real')
    return agent?.capabilities.includes('log') === true
  })
  await done('readLogs')
  await done('countTop', { query: '?by=url&seconds=1' })
  await host.kill()
  const lost = await eventually('the agent is Down', async () => {
    const agent = await api.findAgent('real')
    return agent?.stateName === 'Down' ? agent : undefined
  })
  const by = (await api.listAgents()).find(({ stateName }) => stateName === 'Running')
  await done('replaceAgent', { at: { id: lost.id }, body: { by: { id: by?.id } } })
}

async function tryIdentity(t: Test, harness: Harness): Promise<void> {
  const { done, made } = harness
  const organization = { id: await made('createOrganization', { name: 'red' }) }
  const anna = { id: await made('createAccount', { name: 'anna', password }) }
  const bert = { id: await made('createAccount', { name: 'bert', password }) }
  const at = organization
  for (const account of [anna, bert]) await done('assignAccount', { at, body: { account } })
  await done('unassignAccount', { at, body: { account: bert } })
  const user = { id: await made('createUser', { account: bert, organization }) }
  const permission = {
    id: await made('createPermission', { account: bert, organization, type: 'tag' }),
  }
  await readAll(harness, { Organization: at, Account: anna, User: user, Permission: permission })
  await done('updateOrganization', { at, body: { accessTTL: 300 } })
  await done('updateAccount', { at: anna, body: { email: 'anna@example.com' } })
  await done('updateUser', { at: user, body: { role: 'regular' } })
  await done('updatePermission', { at: permission, body: { write: true } })
  await trySessions(harness)
  await tryProvider(t, harness, organization)
  await done('deletePermission', { at: permission })
  await done('deleteUser', { at: user })
  await done('deleteAccount', { at: bert })
  const empty = { id: await made('createOrganization', { name: 'green' }) }
  await done('deleteOrganization', { at: empty })
}

async function trySessions({ done }: Harness): Promise<void> {
  const body = { org: 'red' }
  const headers = { authorization: basic('anna', password) }
  const login = await done('login', { token: null, headers, body })
  const refresh = { authorization: `Refresh ${String(login.body['refreshToken'])}` }
  const token = String(
    (await done('refresh', { token: null, headers: refresh })).body['accessToken'],
  )
  await done('whoami', { token })
  await done('logout', { token })
  const again = String((await done('login', { token: null, headers, body })).body['accessToken'])
  await done('changePassword', { token: again, body: { old: password, new: `${password} 2` } })
  const expire = Math.floor(Date.now() / 1000) + 3600
  const limits = { label: 'ci', expire, permissions: [{ type: 'tag', read: true }] }
  const { id } = (await done('createApiToken', { body: limits })).body
  await done('listSessions')
  await done('deleteSession', { at: { id: Number(id) } })
}

async function tryProvider(t: Test, harness: Harness, organization: { id: number }): Promise<void> {
  const { done, made, coordinator, documented } = harness
  const oidc = `${coordinator.base}/api/v1/auth/oidc`
  const client = { client_id: 'fleet', client_secret: 'secret of the fleet' }
  const clients = [{ ...client, redirect_uris: [`${oidc}/callback`] }]
  const provider = await startIdentityProvider(t, { clients })
  provider.person = 's-1'
  const idp = {
    id: await made('createIdp', {
      baseURL: provider.issuer,
      clientID: 'fleet',
      clientSecret: client.client_secret,
      organization,
    }),
  }
  await readAll(harness, { Idp: idp })
  await done('updateIdp', { at: idp, body: { scopes: ['openid'] } })
  await done('beginOidcLogin', { at: { organization: 'red' }, token: null })

  const browser = createBrowser()
  const callback = await browser.follow(`${oidc}/red`, `${oidc}/callback`)
  const [cookies] = browser.cookies.values()
  const cookie = [...(cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  const query = callback.url.search
  await done('finishOidcLogin', {
    query,
    token: null,
    headers: { cookie, accept: 'application/json' },
  })

  const returning = createBrowser()
  const there = 'http://127.0.0.1:9/done'
  const page = await returning.follow(`${oidc}/red?return=${encodeURIComponent(there)}`, there)
  const code = page.url.searchParams.get('code')
  await done('exchangeOidcCode', { token: null, body: { code } })
  await done('deleteIdp', { at: idp })
  await documented.call('exchangeOidcCode', { token: null, body: { code } })
}

async function tryObjects(harness: Harness): Promise<void> {
  const { done, made, api } = harness
  const [agent, staging] = await eventually('two agents are Running', async () => {
    const [one, two] = (await api.listAgents()).filter(({ stateName }) => stateName === 'Running')
    return one && two ? [{ id: one.id }, { id: two.id }] : undefined
  })
  const tag = { id: await made('createTag', { name: 'web' }) }
  const stageTag = { id: await made('createTag', { name: 'staging' }) }
  await done('updateAgent', { at: staging, body: { tags: [stageTag] } })
  const file = { id: await made('createFile', { name: 'main.vcl', source }) }
  const other = { id: await made('createVcl', { name: 'other.vcl', source }) }
  const domain = { id: await made('createDomain', { fqdn: 'www.example.com' }) }
  await done('updateAgent', { at: agent, body: { tags: [tag] } })
  const deployment = { id: await made('createDeployment', { name: 'web', tags: [tag] }) }
  const group = {
    id: await made('createVclGroup', { name: 'site', mainVCL: file, deployments: [deployment] }),
  }
  await done('updateTag', { at: tag, body: { name: 'web 2' } })
  await done('updateFile', { at: file, body: { source: `${source}# 2\n` } })
  await done('updateDomain', { at: domain, body: { fqdn: 'example.com' } })
  await done('updateDeployment', { at: deployment, body: { max: 2 } })
  await done('updateVclGroup', { at: group, body: { keepOnFailure: false } })
  await done('listFileVersions', { at: file })
  await done('getFileVersion', { at: { ...file, n: 1 } })
  await done('diffFileVersions', { at: file, query: '?from=1&to=2' })
  await done('compileFiles', { body: { mainVCL: file } })
  await done('planPlacement', {
    body: {
      groups: [{ ...group, name: 'site', domains: [], deployments: ['web'] }],
      deployments: [{ ...deployment, name: 'web', min: 1, max: 1, tags: [tag] }],
    },
  })
  await done('listenToEvents')
  await tryCertificates(harness)
  await tryWebhooks(harness)
  await tryVerbs(harness, { group, tag: stageTag, file })
  await readAll(harness, { Agent: agent, Tag: tag, File: file, Domain: domain, VclGroup: group })
  await readAll(harness, { Deployment: deployment })
  await tryAgent(harness, agent)
  await tryStatistics(harness, { Agent: agent, VclGroup: group, Domain: domain })
  await Promise.all([tryInvalidations(harness), tryRollouts(harness, group, { file, source })])
  await done('undeployVclGroup', { at: group })
  const token = await made('createJoinToken', { label: 'rack', maxUses: 1 })
  for (const list of ['listVcls', 'listJoinTokens', 'listApiLogs']) await done(list)
  await done('deleteJoinToken', { at: { id: token } })
  await done('deleteVclGroup', { at: group })
  await done('deleteDeployment', { at: deployment })
  for (const [operationId, at] of [
    ['deleteFile', other],
    ['deleteDomain', domain],
    ['deleteTag', tag],
  ] as const)
    await done(operationId, { at })
  await done('deleteAgent', { at: agent, query: '?force=true' })
}

type Reference = { readonly id: number }

/** Deployed to no agent: these caches have no TLS listener. */
async function tryCertificates(harness: Harness): Promise<void> {
  const { done, made } = harness
  const names = ['certified.example']
  const domain = { id: await made('createDomain', { fqdn: names[0] }) }
  const first = await makeDomainCertificate({ names })
  const at = { id: await made('createCertificate', { name: 'site', ...first }) }
  await done('deployCertificate', { at })
  await done('updateCertificate', { at, body: { ...(await makeDomainCertificate({ names })) } })
  await done('deployCertificate', { at })
  await done('rollbackCertificate', { at })
  await readAll(harness, { Certificate: at })
  await done('deleteCertificate', { at })
  await done('deleteDomain', { at: domain })
}

/** No server listens at the address. */
async function tryWebhooks(harness: Harness): Promise<void> {
  const { done, made } = harness
  const at = {
    id: await made('createWebhook', {
      name: 'pager',
      url: 'http://127.0.0.1:1/fleet',
      types: ['apilog'],
    }),
  }
  await eventually('a delivery of its own creation is failing', async () => {
    return (await done('getWebhook', { at })).body['failing'] === true
  })
  await done('updateWebhook', { at, body: { filter: 'status=500' } })
  await done('testWebhook', { at })
  await done('listWebhookDeliveries', { at })
  await readAll(harness, { Webhook: at })
  await done('deleteWebhook', { at })
}

async function tryVerbs(
  { done }: Harness,
  { group: at, tag, file }: Readonly<Record<'group' | 'tag' | 'file', Reference>>,
): Promise<void> {
  await done('validateVclGroup', { at })
  await done('deployVclGroup', { at })
  await done('reloadVclGroup', { at })
  const stage = { tags: [tag] }
  await done('stageVclGroup', { at, body: stage })
  await done('getVclGroup', { at })
  await done('delstageVclGroup', { at })
  await done('stageVclGroup', { at, body: stage })
  await done('promoteVclGroup', { at })
  await done('rollbackVclGroup', { at, body: { revision: 1 } })
  let round = 0
  await eventually('a deploy is cancelled before it has loaded', async () => {
    await done('updateFile', { at: file, body: { source: `${source}# round ${++round}\n` } })
    await done('deployVclGroup', { at, query: '?wait=0' })
    return done('cancelVclGroup', { at })
  })
  for (const part of ['State', 'Placement', 'Routing', 'History'])
    await done(`getVclGroup${part}`, { at })
  await done('getVclGroupPlan', { at, query: '?verb=deploy' })
}

async function tryAgent({ done }: Harness, at: Reference): Promise<void> {
  for (const part of ['Vcls', 'Params', 'Backends', 'Bans']) await done(`listAgent${part}`, { at })
  await done('getAgentPanic', { at })
  await done('sendAgentCommand', { at, body: { command: 'ping' } })
  await done('setAgentParam', { at: { ...at, name: 'default_ttl' }, body: { value: '30' } })
  await done('setAgentBackend', { at: { ...at, name: 'default', health: 'sick' } })
  await done('unlockAgent', { at })
  await done('unlockAgents', { body: { agents: [at] } })
  await done('drainAgent', { at, body: { reason: 'kernel update' } })
  await done('undrainAgent', { at })
}

async function tryStatistics(
  { done }: Harness,
  subjects: Readonly<Record<string, Reference>>,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const range = { consolfunc: 'AVERAGE', start: now - 60, end: now }
  await done('listBackends')
  await done('listCounters')
  await done('getOverview')
  await done('listNewestStats', { query: '?counters=client_req' })
  await done('listMarks', { at: range })
  await done('getFleetStats', { at: range, query: '?counters=client_req' })
  for (const [name, of] of Object.entries(subjects)) {
    const at = { ...of, ...range }
    const [counter, graph] = name === 'Domain' ? ['hits', 'status'] : ['cache_hit', 'avghitratio']
    await done(`get${name}Counter`, { at: { ...at, counter } })
    await done(`get${name}Stats`, { at, query: `?counters=${counter}` })
    await done(`get${name}Graph`, { at: { ...at, name: graph } })
  }
  await done('getVclGroupNewestStats', { at: subjects['VclGroup'] ?? {} })
}

/** `Tag` is listed by listTags and read by getTag. */
async function readAll({ done }: Harness, objects: Record<string, Reference>): Promise<void> {
  for (const [name, at] of Object.entries(objects)) {
    await done(`list${name}s`)
    const { headers } = await done(`get${name}`, { at })
    const etag = headers.get('etag') ?? ''
    await done(`get${name}`, { at, headers: { 'if-none-match': etag } })
  }
}

/** Each call without a token, as a user without permissions, for an unknown object, and with an invalid parameter. */
async function tryRefusals({ coordinator, documented, made, done }: Harness): Promise<void> {
  const { id } = (await done('listOrganizations', { query: '?name=red' })).body[0] as Reference // red exists
  const account = { id: await made('createAccount', { name: 'nobody', password }) }
  await done('assignAccount', { at: { id }, body: { account } })
  const nobody = await logIn(coordinator.base, { user: 'nobody', password, org: 'red' })
  for (const { id: operationId, isPublic } of documented.operations) {
    const given = { at: { id: 987_654_321 }, query: '?bogus=1' }
    await documented.call(operationId, given)
    if (isPublic) continue
    await documented.call(operationId, { ...given, token: null })
    await documented.call(operationId, { ...given, token: nobody.token })
  }
}

function idsOf(operations: readonly { readonly id: string }[]): string[] {
  return operations.map(({ id }) => id)
}
