/**
 * Figures of two groups of two organizations on one real cache, under a known load: exact, and visible to their organization only
 * (docs/behaviour.md, Live log).
 */
import t from 'tap'
import { fetchingFrom } from '../agent/counters/cache-traffic.js'
import { logIn, type ApiClient } from '../support/api-client.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { expectDone, startHarness, untilAgent, type Harness } from './harness.js'
import { ask, startOrigin } from './origin.js'

const password = 'long enough a word'
const paths = 5
const times = 10
const failures = 25
/** A sample is split across two rows, and times are whole milliseconds. */
const nearly = (count: number): number => count * 0.995

interface Site {
  readonly api: ApiClient
  readonly group: number
  readonly domain: number
  readonly fqdn: string
}

void t.test('figures of groups and domains', async (t) => {
  const words = ['--no-agent', '--heartbeat', '3', '--stats-interval', '1']
  const coordinator = await startCoordinator(t, { words })
  const harness = await startHarness(t, { shared: { coordinator, linked: coordinator } })
  await untilAgent(harness, 'Running')
  const vcl = `${fetchingFrom(await startOrigin(t, 'figures'))}sub vcl_recv { if (req.url ~ "^/fail") { return (synth(503)); } }\n`
  const azure = await settle(harness, vcl, { name: 'azure', fqdn: '*.azure.example' })
  const crimson = await settle(harness, vcl, { name: 'crimson', fqdn: 'crimson.example' })
  const agentId = (await harness.api.findAgent(harness.agentName))?.id ?? 0
  const begin = Math.floor(Date.now() / 1000) - 1
  const ofAgent = `/agents/${agentId}`

  let round = 0
  await eventually('the requests of both are counted', async () => {
    round += 1
    for (const host of ['www.azure.example', 'crimson.example'])
      for (const path of [`/warm/${round}`, '/warm', '/warm', '/fail']) await send(host, path)
    const known = [azure, crimson].map((site) => readAll(harness.api, ofAgent, site))
    return (await Promise.all(known)).flat().every((total) => total > 0)
  })
  // Lines arrive in order: once the last one, the first of its kind, is counted, all previous ones are.
  await ask(harness.cache, 'www.azure.example', { method: 'POST' })
  const passes = `GROUP.${azure.group}.passes`
  await eventually('all of them are counted', async () => {
    const [total = 0] = await sum(harness.api, ofAgent, [passes], begin)
    return total > nearly(1)
  })
  const warm = await readAll(harness.api, ofAgent, azure)

  for (let path = 0; path < paths; path++)
    for (let time = 0; time < times; time++) await send('www.azure.example', `/${path}`)
  for (let time = 0; time < failures; time++) await send('img.azure.example', '/fail')
  await send('nobody.example', '/')

  await t.test('equal the sent requests', async (t) => {
    const wanted = {
      requests: paths * times + failures,
      hits: paths * (times - 1),
      misses: paths,
      synths: failures,
      status_2xx: paths * times,
      status_5xx: failures,
    }
    await eventually('all are counted', async () => {
      const [requests = 0] = await readAll(harness.api, ofAgent, azure)
      return requests - (warm[0] ?? 0) > nearly(wanted.requests)
    })
    const now = await readAll(harness.api, ofAgent, azure)
    const found = now.map((total, at) => Math.round(total - (warm[at] ?? 0)))
    t.same(found, Object.values(wanted))
    const subjects = [`GROUP.${azure.group}`, `DOMAIN.${azure.fqdn}`]
    const failed = subjects.map((subject) => `${subject}.status_5xx`)
    const [ofGroup, ofDomain] = await sum(harness.api, ofAgent, failed, begin)
    t.equal(ofDomain, ofGroup, 'a wildcard is one name')
  })

  await t.test('an organization sees only figures of its own groups and domains', async (t) => {
    const names = (site: Site): string[] => [
      `GROUP.${site.group}.requests`,
      `DOMAIN.${site.fqdn}.requests`,
      `DOMAIN.${site.group}:${site.fqdn}.requests`,
    ]
    for (const [who, other] of [
      [azure, crimson],
      [crimson, azure],
    ] as const) {
      for (const name of names(who))
        t.equal((await read(who.api, ofAgent, [name], begin)).status, 200, name)
      for (const name of names(other)) {
        for (const place of [ofAgent, `/vclgroups/${who.group}`])
          t.equal((await read(who.api, place, [name], begin)).status, 404, name)
        t.equal((await read(who.api, '', [name], begin)).status, 404, name)
        const { body } = await who.api.call('GET', `/stats?counters=${encodeURIComponent(name)}`)
        t.notMatch(JSON.stringify(body), /"values":\[[\d.]/, name)
      }
      // A domain with the same name as another organization's reveals nothing about that one.
      await who.api.make('/domains', { fqdn: other.fqdn })
      const theirs = `DOMAIN.${other.fqdn}.requests`
      t.equal((await read(who.api, ofAgent, [theirs], begin)).status, 404, theirs)
      const newest = await who.api.call('GET', `/vclgroups/${who.group}/stats`)
      const text = JSON.stringify(newest.body)
      t.match(text, `"GROUP.${who.group}.requests"`)
      t.match(text, `"DOMAIN.${who.fqdn}.requests"`)
      t.notMatch(text, new RegExp(`GROUP\\.${other.group}\\.|${other.fqdn.replace('*', '\\*')}`))
    }
  })

  async function send(host: string, path: string): Promise<void> {
    await ask(harness.cache, host, { path })
  }

  function readAll(api: ApiClient, place: string, { group }: Site): Promise<number[]> {
    const figures = ['requests', 'hits', 'misses', 'synths', 'status_2xx', 'status_5xx']
    return sum(
      api,
      place,
      figures.map((figure) => `GROUP.${group}.${figure}`),
      begin,
    )
  }
})

void t.test('without a sample rate, no figures are collected', async (t) => {
  const words = ['--no-agent', '--heartbeat', '3', '--stats-interval', '1']
  const coordinator = await startCoordinator(t, { words })
  const harness = await startHarness(t, {
    shared: { coordinator, linked: coordinator },
    agentWords: ['--sample-rate', '0'],
  })
  await untilAgent(harness, 'Running')
  const vcl = fetchingFrom(await startOrigin(t, 'figures'))
  const site = await settle(harness, vcl, { name: 'azure', fqdn: 'azure.example' })
  const newest = await eventually('counters are reported', async () => {
    await ask(harness.cache, site.fqdn)
    const { body } = await site.api.call('GET', `/vclgroups/${site.group}/stats`)
    const { stats } = body as { stats: { counter: string; value: number }[] }
    const isCounted = stats.some(({ counter, value }) => counter === 'MAIN.client_req' && value > 0)
    return isCounted ? stats : undefined
  })
  t.same(
    newest.filter(({ counter }) => /^(?:GROUP|DOMAIN)\./.test(counter)),
    [],
  )
})

async function settle(
  { coordinator, api, agentTag }: Harness,
  vcl: string,
  { name, fqdn }: { readonly name: string; readonly fqdn: string },
): Promise<Site> {
  const id = await api.make('/organizations', { name })
  await api.make('/accounts', { name, password, organization: { id } })
  const own = await logIn(coordinator.base, { user: name, password, org: name })
  const file = await own.makeFile(`${name}.vcl`, vcl)
  const deployment = await own.makeDeployment(name, await own.findTag(agentTag))
  const domain = await own.make('/domains', { fqdn })
  const group = await own.make('/vclgroups', {
    name,
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  expectDone(await own.act(group, 'deploy'))
  return { api: own, group, domain, fqdn }
}

function read(api: ApiClient, place: string, names: readonly string[], begin: number) {
  const counters = encodeURIComponent(names.join(','))
  const range = `${begin}/${Math.ceil(Date.now() / 1000)}`
  return api.call('GET', `${place}/stats/TOTAL/${range}?counters=${counters}`)
}

/** Sums since `begin`, at one time; zeros while any of them is unknown. */
async function sum(
  api: ApiClient,
  place: string,
  names: readonly string[],
  begin: number,
): Promise<number[]> {
  const { status, body } = await read(api, place, names, begin)
  if (status !== 200) return names.map(() => 0)
  const { stats } = body as { stats: { values: { value: number }[] }[] }
  return stats.map(({ values }) => values.reduce((total, { value }) => total + value, 0))
}
