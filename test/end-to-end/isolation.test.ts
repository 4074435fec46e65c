/**
 * Groups of one cache that attack each other's objects (docs/behaviour.md, Isolation), on a real one: by ESI, by a domain that changed
 * its group, by stale objects, by headers of clients. Purges: domains.test.ts.
 */
import t, { type Test } from 'tap'
import { ask, startOrigin, type Origin } from './origin.js'
import { expectDone, startHarness, untilAgent, agentTag, type Harness } from './harness.js'

interface Site {
  readonly id: number
  readonly name: string
  readonly file: number
  readonly origin: Origin
}

/** Every object is cached for an hour and kept while stale; as far as the author can tell, all have the same hash. */
const storing = (name: string, port: number, more = ''): string => `vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv { return (hash); }
sub vcl_hash { hash_data(req.url); return (lookup); }
sub vcl_backend_response {
  set beresp.ttl = 1h;
  set beresp.grace = 24h;
  set beresp.keep = 24h;
  ${more}
  return (deliver);
}
sub vcl_deliver { set resp.http.X-Marker = "${name}"; set resp.http.X-Hits = obj.hits; }
`

async function makeSite(t: Test, harness: Harness, name: string, domain: number): Promise<Site> {
  const { api } = harness
  const origin = await startOrigin(t, name)
  const file = await api.makeFile(`${name}.vcl`, storing(name, origin.port))
  const deployment = await api.makeDeployment(name, await api.findTag(agentTag))
  const parts = { deployments: [{ id: deployment }], domains: [{ id: domain }] }
  const id = await harness.api.make('/vclgroups', { name, mainVCL: { id: file }, ...parts })
  return { id, name, file, origin }
}

void t.test('groups on one cache', async (t) => {
  const harness = await startHarness(t)
  await untilAgent(harness, 'Running')
  const { api, cache } = harness
  const [shopName, blogName] = [
    await harness.api.make('/domains', { fqdn: 'shop.example' }),
    await harness.api.make('/domains', { fqdn: 'blog.example' }),
  ]
  const shop = await makeSite(t, harness, 'shop', shopName)
  const blog = await makeSite(t, harness, 'blog', blogName)
  for (const { id } of [shop, blog]) expectDone(await api.act(id, 'deploy'))
  const askTwice = async (host: string, path = '/') => {
    await ask(cache, host, { path })
    return ask(cache, host, { path })
  }

  await t.test('headers of clients have no effect', async (t) => {
    t.match(await askTwice('shop.example'), { body: 'secret of shop', hits: '1' })
    const headers = {
      'X-Cachefleet-Group': String(shop.id),
      'X-Cachefleet-Host': 'shop.example',
      'X-Cachefleet-Purge': '0'.repeat(32),
    }
    const answered = await ask(cache, 'blog.example', { headers })
    t.match(answered, { body: 'secret of blog', mark: 'blog', hits: '0' })
    t.notOk('x-cachefleet-group' in answered.headers)
    t.match(await ask(cache, 'blog.example'), { hits: '1' })

    await cache.adm('ban', 'obj.http.X-Cachefleet-Group', '==', String(shop.id))
    t.match(await ask(cache, 'blog.example'), { hits: '2' }, 'the mark is its own')
    t.match(await ask(cache, 'shop.example'), { hits: '0' }, 'only the shop’s have its mark')
  })

  await t.test('an ESI include is routed by its Host only', async (t) => {
    const page =
      '<esi:include src="/part"/>|<esi:include src="http://shop.example/private"/>|' +
      '<esi:include src="http://nobody.example/"/>'
    await api.editFile(
      blog.file,
      storing('blog', blog.origin.port, 'if (bereq.url == "/page") { set beresp.do_esi = true; }'),
    )
    expectDone(await api.act(blog.id, 'deploy'))
    blog.origin.answers.set('/page', page)
    shop.origin.answers.set('/private', 'private of shop')
    const { body } = await askTwice('blog.example', '/page')
    const [own, others, nobodys] = body.split('|')
    t.equal(own, 'secret of blog')
    t.equal(others, 'private of shop', 'from the shop, by the shop’s own VCL')
    t.notMatch(nobodys, 'secret')
    t.equal(shop.origin.seen.filter(({ url }) => url === '/private').length, 1)
    t.match(await ask(cache, 'blog.example', { path: '/private' }), { body: 'secret of blog' })
    t.match(await ask(cache, 'shop.example', { path: '/private' }), { hits: /^[1-9]/ })
  })

  await t.test('a domain’s new group gets no object of its former group', async (t) => {
    t.match(await askTwice('shop.example', '/kept'), { hits: '1' })
    const file = await api.makeFile('empty.vcl', storing('shop', 9))
    expectDone(await api.call('PUT', `/vclgroups/${shop.id}`, { mainVCL: { id: file } }))
    expectDone(await api.act(shop.id, 'deploy'))
    t.match(
      await ask(cache, 'shop.example', { path: '/kept' }),
      { status: 200, body: 'secret of shop' },
      'the group itself keeps its objects over a swap',
    )

    expectDone(await api.act(shop.id, 'undeploy'))
    t.equal((await ask(cache, 'shop.example', { path: '/kept' })).status, 404)
    const thief = await makeSite(t, harness, 'thief', shopName)
    expectDone(await api.act(thief.id, 'deploy'))
    const taken = await ask(cache, 'shop.example', { path: '/kept' })
    t.match(taken, { mark: 'thief', body: 'secret of thief', hits: '0' })
    thief.origin.stop()
    t.equal((await ask(cache, 'shop.example', { path: '/' })).status, 503, 'nor stale ones')
  })
})
