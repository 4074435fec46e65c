/** A store with a given number of objects of each kind, each referring to as many others. */
import { saveBackendReports } from '../../../src/coordinator/backends/backend-recorder.js'
import { addHistory } from '../../../src/coordinator/fleet/history-queries.js'
import { insertRollout } from '../../../src/coordinator/fleet/rollout-queries.js'
import { insertRow } from '../../../src/coordinator/store/write-rows.js'
import { insertDeliveries } from '../../../src/coordinator/webhooks/delivery-queries.js'
import { makeDomainCertificate } from '../../support/domain-certificates.js'
import type { Client, Json } from './client.js'
import { makeRollout } from '../rollouts/made-rollout.js'
import { placeGroup } from './placed-group.js'

type Reference = { readonly id: number }

const password = 'a long enough password'
const certified = 'certified.example'
const certificateText = await makeDomainCertificate({ names: [certified] })

/** Every resource gets an object with id 1 that refers to `count` others wherever possible. */
export async function seed(client: Client, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  const makeAll = async (path: string, bodyOf: (n: number) => Json): Promise<Reference[]> => {
    const made: Reference[] = []
    for (const n of numbers)
      made.push({ id: Number((await client.expect(201, 'POST', path, bodyOf(n)))['id']) })
    return made
  }
  const put = (path: string, body: Json): Promise<Json> => client.expect(200, 'PUT', path, body)

  await placeGroup(
    client,
    numbers.map((n) => `edge-${n}`),
  )
  const tags = await makeAll('/tags', (n) => ({ name: `tag ${n}` }))
  const files = await makeAll('/files', (n) => ({ name: `${n}.vcl`, source: 'vcl 4.1;' }))
  for (const n of numbers) await put('/files/1', { source: `vcl 4.1; # ${n}` })
  const domains = await makeAll('/domains', (n) => ({ fqdn: `a${n}.example` }))
  const deployments = await makeAll('/deployments', (n) => ({ name: `deployment ${n}`, tags }))
  await client.expect(201, 'POST', '/domains', { fqdn: certified })
  await makeAll('/certificates', (n) => ({
    name: `certificate ${n}`,
    ...certificateText,
    deployments,
  }))
  const mainVCL = { id: 1 }
  await makeAll('/vclgroups', (n) => ({
    name: `group ${n}`,
    mainVCL,
    includes: files,
    domains,
    deployments,
  }))
  await put('/vclgroups/1', { includes: files, deployments: [mainVCL, ...deployments] })
  await put('/deployments/1?force=true', { tags: [{ id: 1 }, ...tags] })
  for (const n of numbers) await put(`/agents/${n}?force=true`, { tags: [{ id: 1 }, ...tags] })
  await makeAll('/jointokens', (n) => ({ label: `token ${n}`, tags }))
  for (const n of numbers)
    await client.expect(202, 'POST', '/invalidations', {
      type: 'ban',
      expression: `obj.status == ${n}`,
      target: { all: true },
    })
  await seedIdentity(client, { numbers, makeAll })
  await addDeploys(client, numbers)
  await addWebhooks(client, numbers)
  await reportBackends(client, numbers)
  await client.apiLog.close()
}

interface Maker {
  readonly numbers: readonly number[]
  readonly makeAll: (path: string, bodyOf: (n: number) => Json) => Promise<Reference[]>
}

async function seedIdentity(client: Client, { numbers, makeAll }: Maker): Promise<void> {
  const organizations = await makeAll('/organizations', (n) => ({ name: `organization ${n}` }))
  const [first] = organizations
  const expire = Math.floor(client.service.now() / 1000) + 3600
  await makeAll('/sessions', (n) => ({
    label: `session ${n}`,
    expire,
    permissions: [{ type: 'tag', read: true }],
  }))
  const accounts = await makeAll('/accounts', (n) => ({
    name: `account ${n}`,
    password,
    organizations: n === 1 ? organizations : [first],
  }))
  await makeAll('/permissions', (n) => ({
    account: accounts[n - 1],
    organization: first,
    type: 'tag',
  }))
  await makeAll('/idps', (n) => ({
    organization: { id: numbers[n - 1] },
    baseURL: 'https://idp.example',
    clientID: 'fleet',
  }))
}

/** Adds history entries and rollouts of the first group. */
async function addDeploys({ service }: Client, numbers: readonly number[]): Promise<void> {
  const sources = {
    mainVCL: { id: 1, version: 1, name: 'main.vcl' },
    includes: [],
    releases: null,
    domains: [],
    sha: '0'.repeat(64),
    programName: 'cf-1-00000000-1',
    deploymentIds: [1],
  }
  const entry = { groupId: 1, organizationId: null, at: 1, account: 'root', result: 'ok', sources }
  const about = { groupId: 1, groupName: 'group 1', organizationId: null }
  await service.store.transaction(async (queries) => {
    for (const revision of numbers)
      await addHistory(queries, { ...entry, revision, action: 'deploy' })
    for (const revision of numbers)
      await insertRollout(queries, makeRollout({ ...about, revision }))
  })
}

/** Adds webhooks, each with a waiting delivery; the first has a delivery for every webhook. */
async function addWebhooks({ service }: Client, numbers: readonly number[]): Promise<void> {
  const webhook = {
    organizationId: null,
    url: 'https://hooks.example.com',
    sealedUrl: null,
    format: 'json',
    sealedSecret: null,
    types: '["problem"]',
    filter: '',
    enabled: true,
    position: 0,
    dropped: 0,
    failures: 0,
    failingSince: 1,
    lastError: 'it answered 500',
    retryAt: 0,
  } as const
  await service.store.transaction(async (queries) => {
    for (const n of numbers) {
      const webhookId = await insertRow(
        queries,
        'webhooks',
        { ...webhook, name: `webhook ${n}` },
        1,
      )
      const deliveries = [webhookId, 1].map((id) => ({ webhookId: id, type: 'problem', at: 1 }))
      await insertDeliveries(
        queries,
        deliveries.map((one) => ({ ...one, data: '{}' })),
      )
    }
  })
}

/** Reports backends of the first group as sick on every agent. */
async function reportBackends({ service }: Client, numbers: readonly number[]): Promise<void> {
  const sick = numbers.map((n) => ({ name: `backend${n}`, since: 1 }))
  const vcls = [{ name: 'cf-1-01234567-1', healthy: [], sick, omitted: { healthy: 0, sick: 0 } }]
  await saveBackendReports(
    service,
    numbers.map((agentId) => ({ agentId, vcls })),
  )
}
