/** Figures of groups and domains over HTTP: graphs, sums over caches, visibility (docs/behaviour.md, Graphs and Live log). */
import t, { type Test } from 'tap'
import { basic } from '../../support/http-call.js'
import { addDeployment, addPlacement } from '../store/rows.js'
import { enrol, startClient, type Client, type Json } from './client.js'

const stepSeconds = 10
const password = 'long enough a word'

interface Tenant {
  readonly token: string
  readonly group: number
  readonly domain: number
}

interface Fleet {
  readonly client: Client
  readonly agents: readonly number[]
  readonly azure: Tenant
  readonly crimson: Tenant
  /** Seconds since 1970: a multiple of the interval, old enough that all rows are settled. */
  readonly begin: number
}

/** Two shared caches and two organizations, each with one group on both caches and the same domain. */
async function startFleet(t: Test): Promise<Fleet> {
  const client = await startClient(t)
  const agents = [await enrol(client, 'edge-1'), await enrol(client, 'edge-2')]
  const azure = await makeTenant(client, 'azure', agents)
  const crimson = await makeTenant(client, 'crimson', agents)
  const begin = (Math.floor(Date.now() / 1000 / 60) - 5) * 60
  return { client, agents, azure, crimson, begin }
}

async function makeTenant(
  client: Client,
  name: string,
  agents: readonly number[],
): Promise<Tenant> {
  const organization = await client.expect(201, 'POST', '/organizations', { name })
  await client.expect(201, 'POST', '/accounts', { name, password, organization })
  const token = await logIn(client, name, name)
  const make = async (path: string, body: Json): Promise<number> => {
    const { body: made } = await client.call('POST', `/api/v1${path}`, { token, body })
    return Number(made['id'])
  }
  const source = 'vcl 4.1; backend default none;'
  const file = await make('/files', { name: 'a.vcl', source })
  const domain = await make('/domains', { fqdn: 'www.example.com' })
  const mainVCL = { id: file }
  const group = await make('/vclgroups', { name: 'site', mainVCL, domains: [{ id: domain }] })
  const { queries } = client.service.store
  const deployment = await addDeployment(queries, name)
  for (const agentId of agents) await addPlacement(queries, group, agentId, deployment)
  return { token, group, domain }
}

async function logIn(client: Client, org: string, name: string): Promise<string> {
  const { body } = await client.call('POST', '/api/v1/auth/login', {
    headers: { authorization: basic(name, password) },
    body: { org },
  })
  return String(body['accessToken'])
}

/** Records one sample for each cache, by counter name. */
function record(
  { client, agents, begin }: Fleet,
  step: number,
  rates: readonly Readonly<Record<string, number>>[],
): void {
  for (const [at, agentId] of agents.entries())
    client.service.statistics.record({
      agentId,
      at: (begin + step * stepSeconds) * 1000,
      spanMs: stepSeconds * 1000,
      names: Object.keys(rates[at] ?? {}),
      values: Object.values(rates[at] ?? {}),
    })
}

function prefixed(subject: string, figures: Readonly<Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(figures).map(([figure, value]) => [`${subject}.${figure}`, value]),
  )
}

/** Figures of one subject on both caches. */
const ofTraffic = [
  { requests: 10, hits: 6, misses: 2, status_2xx: 10, bytes: 12_345.6, ttfb_1: 9, ttfb_100: 1 },
  { requests: 30, hits: 3, misses: 1, status_2xx: 29.9, status_5xx: 0.1, bytes: 1, ttfb_1: 30 },
]

void t.test('graphs of a group and of its domain are sums over caches', async (t) => {
  const fleet = await startFleet(t)
  const { client, azure, begin } = fleet
  const ofDomain = `DOMAIN.${azure.group}:www.example.com`
  const subjects = [`GROUP.${azure.group}`, ofDomain]
  for (const step of [1, 2])
    record(
      fleet,
      step,
      ofTraffic.map((figures) => ({
        ...prefixed(subjects[0] ?? '', figures),
        ...prefixed(subjects[1] ?? '', figures),
      })),
    )
  const time = begin + stepSeconds
  for (const place of [`/vclgroups/${azure.group}`, `/domains/${azure.domain}`]) {
    const read = async (name: string, consolidation: string) => {
      const range = `${begin}/${time}`
      const path = `${place}/graph/${name}/${consolidation}/${range}`
      return (await client.expect(200, 'GET', path))[name]
    }
    const none = { status_1xx: 0, status_3xx: 0, status_4xx: 0 }
    const status = { ...none, status_2xx: 39.9, status_5xx: 0.1, time }
    t.same(await read('status', 'AVERAGE'), [status], place)
    const total = { ...none, status_2xx: 399, status_5xx: 1, time }
    for (const name of ['TOTAL', 'last']) t.same(await read('status', name), [total])
    t.same(await read('bytes', 'TOTAL'), [{ bytes: 123_466, time }])
    for (const name of ['AVERAGE', 'MAX', 'TOTAL']) {
      t.same(await read('hitratio', name), [{ hitRatio: 0.75, time }])
      const [row] = (await read('firstbyte', name)) as Json[]
      t.match(row, { p50: 0.5128, p95: 0.9744, time }, 'p50 and p95 are within the first bound')
      t.equal(row?.['p99'], 80, 'p99: between 50 and 100 ms, six tenths of the last of forty')
    }
  }
})

void t.test('figures without events are zero, and without lookups there is no ratio', async (t) => {
  const fleet = await startFleet(t)
  const { client, azure, begin } = fleet
  const subject = `GROUP.${azure.group}`
  record(fleet, 1, [prefixed(subject, { requests: 1, passes: 1 }), {}])
  const read = async (name: string) => {
    const path = `/vclgroups/${azure.group}/graph/${name}/AVERAGE/${begin}/${begin + 60}`
    return (await client.expect(200, 'GET', path))[name] as Json[]
  }
  t.same(await read('hitratio'), [])
  t.same(await read('firstbyte'), [])
  t.match(await read('status'), [{ status_2xx: 0, status_5xx: 0, time: begin + 10 }])
  const never = `/domains/${azure.domain}/graph/status/AVERAGE/${begin}/${begin + 60}`
  t.same(await client.expect(200, 'GET', never), { status: [] })
})

void t.test('figures of a domain are requested by their own names', async (t) => {
  const fleet = await startFleet(t)
  const { client, azure, begin } = fleet
  const ofDomain = `DOMAIN.${azure.group}:www.example.com`
  record(
    fleet,
    1,
    ofTraffic.map((figures) => prefixed(ofDomain, figures)),
  )
  const range = `${begin}/${begin + 60}`
  const read = (path: string) => client.send('GET', `/domains/${azure.domain}${path}`)

  const values = [{ time: begin + stepSeconds, value: 40 }]
  t.match(await read(`/stats/requests/AVERAGE/${range}`), {
    body: { counter: 'requests', values },
  })
  const several = await read(`/stats/TOTAL/${range}?counters=hits,status_4xx`)
  t.match(several.body['stats'], [
    { counter: 'hits', values: [{ value: 90 }] },
    { counter: 'status_4xx', values: [{ value: 0 }] },
  ])
  const usual = await read(`/stats/AVERAGE/${range}`)
  const names = (usual.body['stats'] as Json[]).map(({ counter }) => counter)
  t.match(names.join(), /^requests,hits,misses,passes,synths,status_1xx,.*,status_5xx,bytes$/)
  for (const [status, path, message] of [
    [404, `/stats/client_req/AVERAGE/${range}`, /figure client_req was not found; there are reque/],
    [404, `/graph/traffic/AVERAGE/${range}`, /graph traffic was not found; there are status, firs/],
    [400, `/graph/status/MEDIAN/${range}`, /AVERAGE, MIN, MAX/],
  ] as const) {
    const answer = await read(path)
    t.equal(answer.status, status, path)
    t.match(answer.body, { errorKey: 'domain', errorMsg: message })
  }
  const ofGroup = `/vclgroups/${azure.group}/graph/pie/AVERAGE/${range}`
  t.match((await client.send('GET', ofGroup)).body, {
    errorMsg: /graph pie was not found; there are avghitratio, .*, status, firstbyte, hitratio/,
  })
})

void t.test('each organization reads only its own part of a common domain', async (t) => {
  const fleet = await startFleet(t)
  const { client, azure, crimson, begin } = fleet
  const figures = [azure, crimson].map(({ group }, at) =>
    prefixed(`DOMAIN.${group}:www.example.com`, { requests: at + 1 }),
  )
  record(fleet, 1, [figures[0] ?? {}, figures[1] ?? {}])
  const range = `${begin}/${begin + 60}`
  const read = (token: string, { domain }: Tenant) =>
    client.call('GET', `/api/v1/domains/${domain}/stats/requests/AVERAGE/${range}`, { token })
  for (const [at, tenant] of [azure, crimson].entries()) {
    const values = [{ time: begin + stepSeconds, value: at + 1 }]
    t.match(await read(tenant.token, tenant), { status: 200, body: { values } })
    t.match(await read(client.token, tenant), { status: 200, body: { values } })
  }
  t.equal((await read(azure.token, crimson)).status, 404)
  const graph = `/api/v1/vclgroups/${crimson.group}/graph/status/AVERAGE/${range}`
  t.equal((await client.call('GET', graph, { token: azure.token })).status, 404)

  const reader = await makeReader(client, azure, ['stats', 'domain'])
  t.match(
    await read(reader, azure),
    { status: 200, body: { values: [] } },
    'figures belong to groups, which the reader may not read',
  )
})

/** A reader of the first organization with access to these types only. */
async function makeReader(
  client: Client,
  { token }: Tenant,
  types: readonly string[],
): Promise<string> {
  const { body: who } = await client.call('GET', '/api/v1/auth/whoami', { token })
  const { organization } = who
  const make = (path: string, body: Json) => client.expect(201, 'POST', path, body)
  const account = await make('/accounts', { name: 'reader', password, organization })
  for (const type of types) await make('/permissions', { account, organization, type, read: true })
  return logIn(client, 'azure', 'reader')
}
