/** Groups with domains on real caches: routing by Host, objects kept apart, domains once on an agent, restarts. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { answering, fetchMark, listVcls } from '../agent/cache-sight.js'
import { purgeSecret } from '../../src/domain/prologue.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { ask, startOrigin, type Origin } from './origin.js'
import { expectDone, readRefusal, startStand, untilAgent, ways, type Stand } from './stand.js'

for (const [way, coordinators] of ways)
  void t.test(`groups with domains, on one cache, ${way}`, async (t) => {
    const stand = await startStand(t, { coordinators })
    await untilAgent(stand, 'Running')
    const sites = { shop: await makeSite(t, stand, 'shop'), blog: await makeSite(t, stand, 'blog') }

    await t.test('each answers for its names, and nobody for others', (t) =>
      checkRouting(t, stand, sites),
    )
    await t.test('they neither read nor poison each other’s objects', (t) =>
      checkIsolation(t, stand, sites),
    )
    await t.test('one is swapped under load while no request fails', (t) =>
      checkSwap(t, stand, sites),
    )
    await t.test('what is wrong with one is told in its own files', (t) =>
      checkRefusals(t, stand, sites),
    )
    await t.test('what takes its place on the cache is refused', (t) =>
      checkConflicts(t, stand, sites),
    )
    await t.test('other names take effect at the next deploy', (t) => checkNames(t, stand, sites))
    await t.test('a restarted cache has its labels back', (t) => checkRestart(t, stand))
    await t.test('one leaves, the other stays', (t) => checkUndeploy(t, stand, sites))
    await t.test('deploys at the same time do not disturb each other', (t) =>
      checkTogether(t, stand, sites),
    )
    await t.test('a group that becomes a root group has everything banned', (t) =>
      checkRoot(t, stand, sites),
    )
  })

void t.test('the first deploy of an agent that waits for it', async (t) => {
  const stand = await startStand(t, { agentWords: ['--takeover', 'first-deploy'] })
  await untilAgent(stand, 'Running')
  const site = await makeSite(t, stand, 'shop')
  const { api, cache } = stand
  const failures = new Set<number>()
  const traffic = { isOn: true }
  const running = (async () => {
    while (traffic.isOn) {
      const { status } = await ask(cache, 'shop.example')
      if (status !== 200) failures.add(status)
    }
  })()
  t.equal((await ask(cache, 'shop.example')).mark, 'foreign')

  expectDone(await api.act(site.id, 'deploy'))

  traffic.isOn = false
  await running
  t.same([...failures], [], 'what served before served until then')
  t.equal((await ask(cache, 'shop.example')).mark, 'shop')
  t.notOk((await listVcls(cache)).includes('boot'))
})

interface Site {
  readonly id: number
  readonly name: string
  readonly file: number
  readonly deployment: number
  readonly origin: Origin
  /** fqdn → id. */
  readonly domains: Readonly<Record<string, number>>
}

type Sites = Readonly<Record<'shop' | 'blog', Site>>

const namesOf = {
  shop: ['shop.example', '*.wild.example', 'x.deep.wild.example'],
  blog: ['blog.example', 'one.wild.example', '*.deep.wild.example'],
} as const

/** Every request has the same hash, as far as the author can tell, and is stored. */
const caching = (site: string, port: number, mark = site): string => `vcl 4.1; # ${site};
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_hash { hash_data("same"); return (lookup); }
sub vcl_backend_response { set beresp.ttl = 1h; return (deliver); }
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; set resp.http.X-Hits = obj.hits; }
`

async function makeSite(t: Test, { api }: Stand, name: 'shop' | 'blog'): Promise<Site> {
  const origin = await startOrigin(t, name)
  const file = await api.makeFile(`${name}.vcl`, caching(name, origin.port))
  const deployment = await api.makeDeployment(name, await api.findTag('web'))
  const domains: Record<string, number> = {}
  for (const fqdn of namesOf[name]) domains[fqdn] = await make(api, '/domains', { fqdn })
  const id = await make(api, '/vclgroups', {
    name,
    mainVCL: { id: file },
    deployments: [{ id: deployment }],
    domains: Object.values(domains).map((domain) => ({ id: domain })),
  })
  return { id, name, file, deployment, origin, domains }
}

async function make(api: Stand['api'], path: string, body: unknown): Promise<number> {
  const answer = await api.call('POST', path, body)
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return (JSON.parse(answer.text) as { id: number }).id // all that is made has an id
}

async function checkRouting(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = stand
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, 'shop.example')).mark, 'shop')
  t.equal((await ask(cache, 'blog.example')).status, 404, 'it is not deployed')
  expectDone(await api.act(blog.id, 'deploy'))

  const marks: Record<string, string | undefined> = {
    'shop.example': 'shop',
    'SHOP.Example:8080': 'shop',
    'shop.example.': 'shop',
    'shop.example.:80': 'shop',
    'blog.example': 'blog',
    'any.wild.example': 'shop',
    'a.b.wild.example': 'shop',
    'one.wild.example': 'blog',
    'wild.example': undefined,
    'notwild.example': undefined,
    'z.deep.wild.example': 'blog',
    'x.deep.wild.example': 'shop',
    'deep.wild.example': 'shop',
    'shop.example.evil.example': undefined,
    'shop.example..': undefined,
    '.wild.example': undefined,
    'a..wild.example': undefined,
    'a/.wild.example': undefined,
    'shop.example:80:80': undefined,
    '': undefined,
  }
  for (const [host, mark] of Object.entries(marks)) {
    const answer = await ask(cache, host)
    t.equal(answer.mark, mark, JSON.stringify(host))
    if (mark === undefined) t.equal(answer.status, 404, JSON.stringify(host))
  }
  t.equal((await ask(cache, null)).status, 404, 'no Host')

  const group = JSON.parse((await api.call('GET', `/vclgroups/${shop.id}`)).text) as object // a group
  t.match(group, {
    root: false,
    stateName: 'Active',
    domains: [{ id: shop.domains['shop.example'], fqdn: 'shop.example' }, {}, {}],
  })
  const { text } = await api.call('GET', `/vclgroups/${shop.id}/routing`)
  const [routing] = (JSON.parse(text) as { agents: { agent: { name: string }; source: string }[] })
    .agents // as its schema says
  t.equal(routing?.agent.name, 'edge')
  const active = (await listVcls(cache)).find((name) => name.startsWith('cf-r-')) ?? ''
  t.equal((await cache.adm('vcl.show', active)).trim(), routing?.source.trim())
  t.equal(active, `cf-r-${sha256(routing?.source ?? '').slice(0, 8)}`)
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

async function checkIsolation(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = stand
  const fetchBodies = async () =>
    Promise.all([ask(cache, 'shop.example'), ask(cache, 'blog.example')])
  await fetchBodies()
  const [ofShop, ofBlog] = await fetchBodies()
  t.match(ofShop, { body: 'secret of shop', hits: /^[1-9]/ })
  t.match(ofBlog, { body: 'secret of blog', hits: /^[1-9]/ }, 'each from its own object')
  t.notOk('x-cachefleet-group' in ofShop.headers, 'the mark is shown to no client')

  // The blog marks its objects as the shop's, and wants to know the shop's secrets.
  await api.editFile(
    blog.file,
    `${caching('blog', blog.origin.port)}
sub vcl_backend_response { set beresp.http.X-Cachefleet-Group = "${shop.id}"; }
sub vcl_recv { set req.http.X-Saw = req.http.X-Cachefleet-Purge + req.http.X-Cachefleet-Host; }
`,
  )
  expectDone(await api.act(blog.id, 'deploy'))
  const secret = purgeSecret(await readCacheKey(cache, shop))
  const purge = { method: 'PURGE', headers: { 'X-Cachefleet-Purge': secret } }
  await ask(cache, 'blog.example', { ...purge, path: '/' })
  const [kept] = await fetchBodies()
  t.match(kept, { hits: /^[1-9]/ }, 'the shop’s secret purges nothing of the blog, nor by it')
  const saw = blog.origin.seen.at(-1)
  t.notOk(saw && 'x-cachefleet-purge' in saw.headers)
  t.equal(saw?.headers['x-saw'] ?? '', '', 'the blog sees no header of ours')

  const before = shop.origin.seen.length
  await ask(cache, 'shop.example', { method: 'PURGE' })
  t.match((await fetchBodies())[0], { hits: /^[1-9]/ }, 'nor anything without a secret')
  t.equal((await ask(cache, 'shop.example', purge)).status, 200)
  const [fresh] = await fetchBodies()
  t.equal(fresh.hits, '0', 'the group’s own secret purges')
  t.ok(shop.origin.seen.length > before)
  t.notOk(shop.origin.seen.some(({ headers }) => 'x-cachefleet-purge' in headers))

  const agent = await api.findAgent('edge')
  const name = (await listVcls(cache)).find((one) => one.startsWith(`cf-${shop.id}-`)) ?? ''
  const shown = await api.call('POST', `/agents/${agent?.id ?? 0}/command`, {
    command: `vcl.show ${name}`,
  })
  t.match(shown.text, 'backend origin')
  t.notMatch(shown.text, secret)
  t.notMatch(shown.text, await readCacheKey(cache, shop))
}

/** As only the cache's administrator can. */
async function readCacheKey(cache: Varnishd, { id }: Site): Promise<string> {
  const name = (await listVcls(cache)).find((one) => one.startsWith(`cf-${id}-`)) ?? ''
  const [, key = ''] = /hash_data\("([0-9a-f]{32})"\)/.exec(await cache.adm('vcl.show', name)) ?? []
  return key
}

async function checkSwap(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache, port } = stand
  const failures = new Set<string>()
  const marks = new Set<string>()
  let isOn = true
  const load = async (host: string) => {
    while (isOn) {
      const { status, mark = '' } = await ask(cache, host)
      if (status !== 200) failures.add(`${host} answered ${status}`)
      marks.add(mark)
    }
  }
  const running = ['shop.example', 'blog.example', 'any.wild.example'].map(load)
  port.forget()
  for (const mark of ['second', 'third', 'fourth']) {
    await api.editFile(shop.file, caching('shop', shop.origin.port, mark))
    expectDone(await api.act(shop.id, 'deploy'))
    t.equal((await ask(cache, 'shop.example')).mark, mark)
  }
  isOn = false
  await Promise.all(running)

  t.same([...failures], [])
  t.same([...marks].toSorted(), ['blog', 'fourth', 'second', 'shop', 'third'])
  const changes = port.changes()
  t.notOk(
    changes.some((line) => line.startsWith('vcl.use') || line.includes('cf-r-')),
    'the routing VCL is as it was',
  )
  t.equal(changes.filter((line) => line.startsWith(`vcl.label cf-l-${shop.id} `)).length, 3)
  t.notOk(changes.some((line) => line.includes(`cf-${blog.id}-`) || line.includes(`-l-${blog.id}`)))

  port.forget()
  expectDone(await api.act(shop.id, 'deploy'))
  t.same(port.changes(), [], 'the same deploy again changes nothing')
}

async function checkRefusals(t: Test, stand: Stand, { shop }: Sites): Promise<void> {
  const { api, cache } = stand
  const refuse = async (source: string) => {
    await api.editFile(shop.file, source)
    return readRefusal(await api.act(shop.id, 'deploy'), 422)
  }
  t.match(
    await refuse('vcl 4.1; backend default none; sub vcl_recv { set req.http.a = nonsense.x; }'),
    /^shop\.vcl line 1 pos 64: .*nonsense/ms,
  )
  t.match(await refuse('backend default none;\n'), /^shop\.vcl line 1 pos 1: .*vcl 4\.1;/m)
  t.match(
    await refuse(
      `vcl 4.1; backend default none;\nsub vcl_recv {\n return ( vcl /**/ (cf-l-${shop.id})); }\n`,
    ),
    /^shop\.vcl line 3 pos 20: return \(vcl/m,
  )
  const blown = await refuse(
    'vcl 4.1;\nbackend default none;\nsub vcl_hash { hash_data(1s + "x"); nope; }\n',
  )
  t.notMatch(blown, await readCacheKey(cache, shop))
  t.match(blown, /^shop\.vcl line 3 /m)
  await api.editFile(shop.file, caching('shop', shop.origin.port))
  expectDone(await api.act(shop.id, 'deploy'))
}

async function checkConflicts(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache, port } = stand
  const loaded = await listVcls(cache)
  port.forget()
  const other = await make(api, '/vclgroups', {
    name: 'other',
    mainVCL: { id: blog.file },
    deployments: [{ id: blog.deployment }],
    domains: [{ id: shop.domains['shop.example'] }],
  })
  t.match(readRefusal(await api.act(other, 'deploy'), 409), 'other groups hold the agents')
  t.equal((await api.readGroup(other)).deployed, false, 'nothing is kept')
  t.equal((await api.call('PUT', `/vclgroups/${other}`, { domains: [] })).status, 200)
  t.match(readRefusal(await api.act(other, 'deploy'), 409), 'other groups hold', 'as a root group')
  t.same([port.changes(), await listVcls(cache)], [[], loaded])
  const rows = JSON.parse((await api.call('GET', `/vclgroups/${other}/placement`)).text) as {
    reason: string
  }[] // as its schema says
  t.match(rows[0]?.reason, 'a root group must be alone')

  const domain = `/domains/${shop.domains['shop.example'] ?? 0}`
  t.match(readRefusal(await api.call('PUT', domain, { fqdn: 'new.example' }), 409), '"shop"')
  t.equal((await api.call('PUT', domain, { fqdn: 'Shop.example' })).status, 200, 'it is the same')
  t.match(readRefusal(await api.call('DELETE', domain), 409), '"shop"')
  t.equal((await api.call('DELETE', `/vclgroups/${other}`)).status, 204)
}

async function checkNames(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = stand
  const added = await make(api, '/domains', { fqdn: 'bücher.example' })
  const kept = Object.entries(shop.domains).filter(([fqdn]) => fqdn !== 'x.deep.wild.example')
  const domains = [...kept.map(([, id]) => ({ id })), { id: added }]
  t.equal((await api.call('PUT', `/vclgroups/${shop.id}`, { domains })).status, 200)
  const name = 'xn--bcher-kva.example'
  t.equal((await ask(cache, name)).status, 404)
  t.equal((await ask(cache, 'x.deep.wild.example')).mark, 'shop')
  const freed = `/domains/${shop.domains['x.deep.wild.example'] ?? 0}`
  t.equal((await api.call('DELETE', freed)).status, 409, 'it is still deployed')
  const programs = (await listVcls(cache)).filter((one) => /^cf-\d/.test(one))

  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, name)).mark, 'shop')
  t.equal((await ask(cache, 'x.deep.wild.example')).mark, 'blog', 'by the wildcard')
  const now = (await listVcls(cache)).filter((one) => /^cf-\d/.test(one))
  t.ok(
    now.every((one) => programs.includes(one)),
    'only the routing VCL was compiled',
  )
  t.equal((await listVcls(cache)).filter((one) => one.startsWith('cf-r-')).length, 1)
  t.equal((await api.call('DELETE', freed)).status, 204)
  t.equal((await ask(cache, 'blog.example')).mark, 'blog')
  t.equal((await api.readGroup(blog.id)).agentStates[0]?.state, 'applied')
}

async function checkRestart(t: Test, stand: Stand): Promise<void> {
  const { cache } = stand
  const loaded = await listVcls(cache)
  const labels = loaded.filter((name) => name.startsWith('cf-l-'))
  t.equal(labels.length, 2)
  await cache.restart()
  await eventually('the groups serve again', async () => {
    const marks = await Promise.all(
      ['shop.example', 'blog.example'].map((host) => ask(cache, host)),
    )
    return marks.map(({ mark }) => mark).join() === 'shop,blog'
  })
  await eventually('all is loaded as before', async () => {
    const names = await listVcls(cache)
    return labels.every((label) => names.includes(label)) && !names.includes('boot')
  })

  const boot = join(stand.agentStateDir, 'boot.cli')
  const alone = await startVarnishd(t, { vcl: null, args: ['-I', boot] })
  await eventually('boot.cli starts a cache that routes', async () => {
    const marks = await Promise.all(
      ['shop.example', 'blog.example'].map((host) => ask(alone, host)),
    )
    return marks.map(({ mark }) => mark).join() === 'shop,blog'
  })
  t.equal((await ask(alone, 'nobody.example')).status, 404)
  t.match(await readFile(boot, 'utf8'), 'vcl.label cf-l-')
}

async function checkUndeploy(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = stand
  const failures = new Set<number>()
  const traffic = { isOn: true }
  const running = (async () => {
    while (traffic.isOn) {
      const { status } = await ask(cache, 'blog.example')
      if (status !== 200) failures.add(status)
    }
  })()
  expectDone(await api.act(shop.id, 'undeploy'))
  traffic.isOn = false
  await running
  t.same([...failures], [])
  t.equal((await ask(cache, 'shop.example')).status, 404)
  const names = await listVcls(cache)
  t.notOk(names.some((name) => name.includes(`-${shop.id}-`) || name === `cf-l-${shop.id}`))
  t.ok(names.includes(`cf-l-${blog.id}`))

  expectDone(await api.act(blog.id, 'undeploy'))
  t.same(await listVcls(cache), ['cf-idle'])
  t.equal((await ask(cache, 'blog.example')).status, 503)
}

async function checkTogether(t: Test, stand: Stand, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = stand
  const deployBoth = () =>
    Promise.all([api.act(shop.id, 'deploy'), api.act(blog.id, 'deploy')] as const)
  await api.editFile(blog.file, 'vcl 4.1;\nnonsense;\n')
  const [good, bad] = await deployBoth()
  expectDone(good)
  t.match(readRefusal(bad, 422), /^blog\.vcl line 2 pos 1: /m)
  t.equal((await ask(cache, 'shop.example')).mark, 'shop')
  t.equal((await ask(cache, 'blog.example')).status, 404)
  t.notOk((await listVcls(cache)).includes(`cf-l-${blog.id}`))

  await api.editFile(blog.file, caching('blog', blog.origin.port))
  await api.editFile(shop.file, caching('shop', shop.origin.port, 'again'))
  for (const answer of await deployBoth()) expectDone(answer)
  t.equal((await ask(cache, 'shop.example')).mark, 'again')
  t.equal((await ask(cache, 'blog.example')).mark, 'blog')
  const states = await Promise.all([shop, blog].map(({ id }) => api.readGroup(id)))
  t.match(states, [
    { agentStates: [{ state: 'applied' }] },
    { agentStates: [{ state: 'applied' }] },
  ])
  for (const answer of await Promise.all([
    api.act(blog.id, 'undeploy'),
    api.act(shop.id, 'undeploy'),
  ]))
    expectDone(answer)
  t.same(await listVcls(cache), ['cf-idle'])
}

async function checkRoot(t: Test, stand: Stand, { shop }: Sites): Promise<void> {
  const { api, cache, port } = stand
  expectDone(await api.act(shop.id, 'deploy'))
  const domains = Object.values(shop.domains).slice(0, 1)
  t.equal(
    (await api.call('PUT', `/vclgroups/${shop.id}`, { root: true })).status,
    400,
    'it has domains',
  )
  t.equal((await api.call('PUT', `/vclgroups/${shop.id}`, { domains: [] })).status, 200)
  t.equal((await ask(cache, 'nobody.example')).status, 404, 'it is to be deployed first')
  await ask(cache, 'shop.example')
  port.forget()
  await api.editFile(shop.file, answering('alone'))
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'alone', 'whatever the Host')
  const order = (lines: readonly string[]) =>
    lines.map((line) => line.split(' ')[0]).filter((verb) => verb === 'ban' || verb === 'vcl.use')
  t.same(order(port.changes()), ['ban', 'vcl.use'], 'everything is banned before the switch')
  t.notOk((await listVcls(cache)).some((name) => /^cf-[lr]-/.test(name)))

  await api.editFile(shop.file, caching('shop', shop.origin.port))
  port.forget()
  expectDone(await api.act(shop.id, 'deploy'))
  t.same(order(port.changes()), ['vcl.use'], 'root to root bans nothing')
  const back = await api.call('PUT', `/vclgroups/${shop.id}`, {
    domains: domains.map((id) => ({ id })),
  })
  t.equal(back.status, 200)
  port.forget()
  expectDone(await api.act(shop.id, 'deploy'))
  t.same(order(port.changes()), ['ban', 'vcl.use'])
  t.equal((await ask(cache, 'shop.example')).mark, 'shop')
  t.equal((await ask(cache, 'nobody.example')).status, 404)
}
