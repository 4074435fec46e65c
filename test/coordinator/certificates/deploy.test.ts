/** Certificates through the API: sealed at rest, deployed to agents in two phases, removed, and refused before any cache gets them. */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { makeDomainCertificate, type CertificateText } from '../../support/domain-certificates.js'
import type { Client, Json } from '../controller/client.js'
import { startTlsFleet, type TlsCache } from './tls-fleet.js'

const names = ['www.example.com']
const first = await makeDomainCertificate({ names })
const second = await makeDomainCertificate({ names })

async function makeSite(client: Client, given: CertificateText = first): Promise<string> {
  await client.expect(201, 'POST', '/domains', { fqdn: '*.example.com' })
  const tags = await client.expect(201, 'POST', '/deployments', {
    name: 'edges',
    tags: [{ id: await tagId(client) }],
  })
  const body = { name: 'site', ...given, deployments: [{ id: tags['id'] }] }
  const made = await client.expect(201, 'POST', '/certificates', body)
  return `/certificates/${String(made['id'])}`
}

async function tagId(client: Client): Promise<number> {
  const tag = await client.expect(201, 'POST', '/tags', { name: 'tls' })
  return Number(tag['id'])
}

async function servedBy({ stateDir }: TlsCache): Promise<string[]> {
  const files = await readdir(join(stateDir, 'tls')).catch(() => [])
  return Promise.all(files.map((file) => readFile(join(stateDir, 'tls', file), 'utf8')))
}

const statesOf = (certificate: Json): unknown[] =>
  (certificate['agentStates'] as { agent: { name: string }; state: string; reason: unknown }[]).map(
    ({ agent, state, reason }) => [agent.name, state, reason],
  )

void t.test(
  'a certificate is deployed to all agents of its deployments, except those without a TLS listener',
  async (t) => {
    const fleet = await startTlsFleet(t)
    const { client } = fleet
    const at = await makeSite(client)
    const one = await fleet.addCache('edge-1', ['tls'])
    const two = await fleet.addCache('edge-2', ['tls'])
    const plain = await fleet.addCache('plain', ['tls'], { hasTls: false })
    const other = await fleet.addCache('other', ['elsewhere'])
    const done = await client.expect(200, 'PUT', `${at}/deploy`)
    t.match(done, { stateName: 'Active', deployed: true, changed: false, deployError: null })
    t.match(done, { domains: names })
    t.same(statesOf(done), [
      ['edge-1', 'applied', null],
      ['edge-2', 'applied', null],
      ['plain', 'passed', 'no-tls'],
    ])
    for (const cache of [one, two]) {
      const [text = ''] = await servedBy(cache)
      t.match(text, first.chain.trim().split('\n').at(1) ?? 'x')
      t.match(text, 'PRIVATE KEY')
    }
    t.same(plain.loads(), [])
    t.same(other.loads(), [])
    const again = await client.expect(200, 'PUT', `${at}/deploy`)
    t.equal(again['updated'], done['updated'])
    t.equal(one.loads().length, 1, 'an identical deploy changes nothing')

    const late = await fleet.addCache('late', ['tls'])
    await eventually('the late agent has it', async () => (await servedBy(late)).length === 1)
    await client.expect(204, 'DELETE', at)
    for (const cache of [one, two, late])
      await eventually('it is gone', async () => (await servedBy(cache)).length === 0)
  },
)

void t.test(
  'a new chain and key take effect at the next deploy, and a rollback restores the earlier ones',
  async (t) => {
    const fleet = await startTlsFleet(t)
    const { client } = fleet
    const at = await makeSite(client)
    const cache = await fleet.addCache('edge-1', ['tls'])
    await client.expect(409, 'PUT', `${at}/rollback`)
    const before = await client.expect(200, 'PUT', `${at}/deploy`)
    const put = await client.expect(200, 'PUT', at, { ...second })
    t.not(put['fingerprint'], before['fingerprint'])
    t.equal(put['changed'], true)
    const [text] = await servedBy(cache)
    t.equal(cache.loads().length, 1, 'a PUT changes no cache')
    t.match(await client.expect(200, 'PUT', `${at}/deploy`), { changed: false })
    const fewer = await client.expect(200, 'PUT', at, { deployments: [] })
    t.equal(fewer['changed'], true)
    const { deployments } = before
    t.match(await client.expect(200, 'PUT', at, { deployments }), { changed: false })
    const served = await servedBy(cache)
    t.equal(served.length, 1)
    t.not(served[0], text)
    const back = await client.expect(200, 'PUT', `${at}/rollback`)
    t.equal(back['fingerprint'], before['fingerprint'])
    t.same(await servedBy(cache), [text])

    const logged = `/apilogs?path=*/api/v1${at}/*&sort=id`
    const rows = await eventually('all calls are in the API log', async () => {
      const found = await client.list(logged)
      return found.length === 4 ? found : undefined
    })
    const keyId = Number(at.split('/').at(-1))
    for (const row of rows) t.match(row, { keyType: 'certificate', keyId })
  },
)

void t.test('a certificate that one agent refuses is committed on none and reported', async (t) => {
  const fleet = await startTlsFleet(t)
  const { client } = fleet
  const at = await makeSite(client)
  const one = await fleet.addCache('edge-1', ['tls'])
  const two = await fleet.addCache('edge-2', ['tls'])
  const before = await client.expect(200, 'PUT', `${at}/deploy`)
  const served = await servedBy(one)
  await client.expect(200, 'PUT', at, { ...second })
  two.refusing = true
  const refused = await client.expect(422, 'PUT', `${at}/deploy`)
  t.match(refused, { errorKey: 'deploy', errorMsg: /^edge-2: .*Unable to read certificate file/s })
  await eventually(
    'the loaded certificate is discarded',
    async () => JSON.stringify(await servedBy(one)) === JSON.stringify(served),
  )
  const after = await client.expect(200, 'GET', at)
  t.match(after, { stateName: 'Active', deployError: /edge-2/, changed: true })
  t.not(after['fingerprint'], before['fingerprint'])
  two.refusing = false
  await client.expect(200, 'PUT', `${at}/deploy`)
  t.notSame(await servedBy(one), served)
})

void t.test('an agent whose commit fails keeps its certificate and is reported', async (t) => {
  const fleet = await startTlsFleet(t)
  const { client } = fleet
  const at = await makeSite(client)
  const one = await fleet.addCache('edge-1', ['tls'])
  const two = await fleet.addCache('edge-2', ['tls'])
  await client.expect(200, 'PUT', `${at}/deploy`)
  const [served] = await servedBy(two)
  await client.expect(200, 'PUT', at, { ...second })
  two.engine.setFault('commit-refused')
  const done = await client.expect(200, 'PUT', `${at}/deploy`)
  t.match(done, { stateName: 'Degraded', deployError: null })
  t.match(done['agentStates'], [
    { state: 'applied', error: null },
    { state: 'failed', error: /simulated fault/ },
  ])
  t.ok((await servedBy(two)).includes(served ?? 'none'))
  two.engine.setFault(null)
  t.match(await client.expect(200, 'PUT', `${at}/deploy`), { stateName: 'Active' })
  t.same(await servedBy(two), await servedBy(one))
})

void t.test(
  'a deploy without an eligible agent answers 503, and agents that connect later get it',
  async (t) => {
    const fleet = await startTlsFleet(t)
    const { client } = fleet
    const at = await makeSite(client)
    await client.expect(503, 'PUT', `${at}/deploy`)
    t.match(await client.expect(200, 'GET', at), { deployed: true, stateName: 'Orphan' })
    const cache = await fleet.addCache('edge-1', ['tls'])
    await eventually('the agent has it', async () => (await servedBy(cache)).length === 1)
    await eventually('the certificate is Active', async () => {
      const { stateName } = (await client.expect(200, 'GET', at)) as { stateName?: string }
      return stateName === 'Active'
    })
  },
)

void t.test('an agent has at most one certificate per domain', async (t) => {
  const fleet = await startTlsFleet(t)
  const { client } = fleet
  const at = await makeSite(client)
  const cache = await fleet.addCache('edge-1', ['tls'])
  await client.expect(200, 'PUT', `${at}/deploy`)
  const { deployments } = await client.expect(200, 'GET', at)
  const other = await client.expect(201, 'POST', '/certificates', {
    name: 'other',
    ...second,
    deployments,
  })
  const refused = await client.expect(409, 'PUT', `/certificates/${String(other['id'])}/deploy`)
  t.match(refused['errorMsg'], /certificate "site" names one of its domains on agent edge-1/)
  t.match(await client.expect(200, 'GET', `/certificates/${String(other['id'])}`), {
    deployed: false,
  })
  t.equal(cache.loads().length, 1)
})

void t.test('a key is sealed at rest and in no answer, log line or desired state', async (t) => {
  const fleet = await startTlsFleet(t)
  const { client } = fleet
  const at = await makeSite(client)
  await fleet.addCache('edge-1', ['tls'])
  await client.expect(200, 'PUT', `${at}/deploy`)
  const answers = [await client.send('GET', at), await client.send('GET', '/certificates')]
  const rows = await client.service.store.queries
    .selectFrom('certificateVersions')
    .selectAll()
    .execute()
  const agents = await client.service.store.queries.selectFrom('agents').select('desired').execute()
  const seen = JSON.stringify([answers.map(({ text }) => text), rows, agents, client.lines])
  t.notMatch(seen, /PRIVATE KEY/)
  t.notMatch(seen, first.key.split('\n')[1] ?? 'x')
})

void t.test(
  'a deploy with wait=0 completes by itself; a deployment in use cannot be deleted',
  async (t) => {
    const fleet = await startTlsFleet(t)
    const { client } = fleet
    const at = await makeSite(client)
    await fleet.addCache('edge-1', ['tls'])
    await client.expect(202, 'PUT', `${at}/deploy?wait=0`)
    await eventually('the certificate is Active', async () => {
      const { stateName } = (await client.expect(200, 'GET', at)) as { stateName?: string }
      return stateName === 'Active'
    })
    const { deployments } = await client.expect(200, 'GET', at)
    const [one] = deployments as readonly { readonly id: number }[] // as the API returns them
    await client.expect(409, 'DELETE', `/deployments/${one?.id}`)
  },
)
