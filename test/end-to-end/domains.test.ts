/** Groups with domains on real caches: routing by Host, separate objects, unique domains on an agent, restarts. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { purgeSecret } from '../../src/vcl/prologue.js'
import { listVcls } from '../support/observe-cache.js'
import { openBootFile } from '../support/boot-file.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { checkNames, checkRoot, checkSwap, checkTogether, checkUndeploy } from './domain-changes.js'
import { caching, makeSite, readCacheKey, type Sites } from './domain-sites.js'
import { ask } from './origin.js'
import { parallel } from '../support/parallel.js'
import { expectDone, readRefusal, startHarness, untilAgent, ways, type Harness } from './harness.js'

/** In parallel: each test has its own cache and coordinators. */
t.jobs = 3
for (const [way, coordinators] of ways)
  void t.test(`groups with domains, on one cache, ${way}`, parallel(), async (t) => {
    const harness = await startHarness(t, { coordinators })
    await untilAgent(harness, 'Running')
    const sites = {
      shop: await makeSite(t, harness, 'shop'),
      blog: await makeSite(t, harness, 'blog'),
    }

    await t.test('each group answers for its own names, and no group for others', (t) =>
      checkRouting(t, harness, sites),
    )
    await t.test('groups neither read nor poison each other’s objects', (t) =>
      checkIsolation(t, harness, sites),
    )
    await t.test('one group is swapped under load without a failed request', (t) =>
      checkSwap(t, harness, sites),
    )
    await t.test('errors of a group are reported in its own files', (t) =>
      checkRefusals(t, harness, sites),
    )
    await t.test('a group that conflicts on the cache is refused', (t) =>
      checkConflicts(t, harness, sites),
    )
    await t.test('changed names take effect at a deploy', (t) => checkNames(t, harness, sites))
    await t.test('a restarted cache has its labels back', (t) => checkRestart(t, harness))
    await t.test('one group leaves, the other stays', (t) => checkUndeploy(t, harness, sites))
    await t.test('simultaneous deploys do not disturb each other', (t) =>
      checkTogether(t, harness, sites),
    )
    await t.test('when a group becomes a root group, all objects are banned', (t) =>
      checkRoot(t, harness, sites),
    )
  })

void t.test('the first deploy of an agent with first-deploy takeover', parallel(), async (t) => {
  const harness = await startHarness(t, { agentWords: ['--takeover', 'first-deploy'] })
  await untilAgent(harness, 'Running')
  const site = await makeSite(t, harness, 'shop')
  const { api, cache } = harness
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
  t.same([...failures], [], 'the old VCL served until then')
  t.equal((await ask(cache, 'shop.example')).mark, 'shop')
  t.notOk((await listVcls(cache)).includes('boot'))
})

async function checkRouting(t: Test, harness: Harness, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = harness
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
    .agents // as in its schema
  t.equal(routing?.agent.name, 'edge')
  const active = (await listVcls(cache)).find((name) => name.startsWith('cf-r-')) ?? ''
  t.equal((await cache.adm('vcl.show', active)).trim(), routing?.source.trim())
  t.equal(active, `cf-r-${sha256(routing?.source ?? '').slice(0, 8)}`)
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

async function checkIsolation(t: Test, harness: Harness, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = harness
  const fetchBodies = async () =>
    Promise.all([ask(cache, 'shop.example'), ask(cache, 'blog.example')])
  await fetchBodies()
  const [ofShop, ofBlog] = await fetchBodies()
  t.match(ofShop, { body: 'secret of shop', hits: /^[1-9]/ })
  t.match(ofBlog, { body: 'secret of blog', hits: /^[1-9]/ }, 'each from its own object')
  t.notOk('x-cachefleet-group' in ofShop.headers, 'no client receives the mark')

  // The VCL of the blog marks its objects as the shop's, and tries to read the shop's secrets.
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
  t.match(kept, { hits: /^[1-9]/ }, 'the shop’s secret purges nothing of the blog, nor through it')
  const saw = blog.origin.seen.at(-1)
  t.notOk(saw && 'x-cachefleet-purge' in saw.headers)
  t.equal(saw?.headers['x-saw'] ?? '', '', 'the blog’s VCL sees no internal header')

  const before = shop.origin.seen.length
  await ask(cache, 'shop.example', { method: 'PURGE' })
  t.match((await fetchBodies())[0], { hits: /^[1-9]/ }, 'nor does a purge without a secret')
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

async function checkRefusals(t: Test, harness: Harness, { shop }: Sites): Promise<void> {
  const { api, cache } = harness
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

async function checkConflicts(t: Test, harness: Harness, { shop, blog }: Sites): Promise<void> {
  const { api, cache, port } = harness
  const loaded = await listVcls(cache)
  port.forget()
  const other = await api.make('/vclgroups', {
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
  }[] // as in its schema
  t.match(rows[0]?.reason, 'a root group must be alone')

  const domain = `/domains/${shop.domains['shop.example'] ?? 0}`
  t.match(readRefusal(await api.call('PUT', domain, { fqdn: 'new.example' }), 409), '"shop"')
  t.equal((await api.call('PUT', domain, { fqdn: 'Shop.example' })).status, 200, 'unchanged')
  t.match(readRefusal(await api.call('DELETE', domain), 409), '"shop"')
  t.equal((await api.call('DELETE', `/vclgroups/${other}`)).status, 204)
}

async function checkRestart(t: Test, harness: Harness): Promise<void> {
  const { cache } = harness
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
  await eventually('all VCLs are loaded as before', async () => {
    const names = await listVcls(cache)
    return labels.every((label) => names.includes(label)) && !names.includes('boot')
  })

  const boot = await openBootFile(t, join(harness.agentStateDir, 'boot.cli'))
  const alone = await startVarnishd(t, { vcl: null, args: ['-I', boot] })
  await eventually('boot.cli starts a cache with routing', async () => {
    const marks = await Promise.all(
      ['shop.example', 'blog.example'].map((host) => ask(alone, host)),
    )
    return marks.map(({ mark }) => mark).join() === 'shop,blog'
  })
  t.equal((await ask(alone, 'nobody.example')).status, 404)
  t.match(await readFile(boot, 'utf8'), 'vcl.label cf-l-')
}
