/** Bans and purges on a real cache: which objects they remove and keep, which caches they reach, and late agents. */
import t, { type Test } from 'tap'
import { parallel } from '../support/parallel.js'
import { eventually } from '../support/eventually.js'
import { answering } from '../support/observe-cache.js'
import {
  invalidate,
  readInvalidation,
  runToEnd,
  untilEnded,
  type Invalidation,
} from './invalidation-calls.js'
import { ask, startOrigin } from './origin.js'
import { agentTag, expectDone, startHarness, untilAgent, ways, type Harness } from './harness.js'

const storing = (port: number): string => `vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.http.x-url = bereq.url; }
sub vcl_deliver { set resp.http.X-Hits = obj.hits; }
`

const purging = `vcl 4.1;
backend default none;
sub vcl_recv { if (req.method == "PURGE") { return (purge); } }
`

async function makeSite(t: Test, harness: Harness, name: string): Promise<number> {
  const { api } = harness
  const origin = await startOrigin(t, name)
  const file = await api.makeFile(`${name}.vcl`, storing(origin.port))
  const deployment = await api.makeDeployment(name, await api.findTag(agentTag))
  const domain = await api.make('/domains', { fqdn: `${name}.example` })
  const parts = { deployments: [{ id: deployment }], domains: [{ id: domain }] }
  const id = await api.make('/vclgroups', { name, mainVCL: { id: file }, ...parts })
  expectDone(await api.act(id, 'deploy'))
  return id
}

/** In parallel: most of the time is waiting. */
t.jobs = 3
for (const [way, coordinators] of ways)
  void t.test(`invalidations, ${way}`, parallel(), async (t) => {
    const harness = await startHarness(t, { coordinators, heartbeatSeconds: 1 })
    await untilAgent(harness, 'Running')
    const { api, cache } = harness
    const shop = await makeSite(t, harness, 'shop')
    await makeSite(t, harness, 'blog')
    const hitsOf = async (host: string, path = '/') => (await ask(cache, host, { path })).hits
    const store = async (path = '/'): Promise<void> => {
      for (const host of ['shop.example', 'blog.example'])
        await eventually(
          `${host}${path} is stored`,
          async () => Number(await hitsOf(host, path)) > 0,
        )
    }

    await t.test('a ban for a group keeps the objects of others', async (t) => {
      await store()
      const ban = { type: 'ban', expression: 'obj.status != 0', target: { vclGroup: { id: shop } } }
      const entry = await runToEnd(api, ban)
      t.match(entry, { stateName: 'Completed', done: 1, total: 1, results: [{ state: 'done' }] })
      t.equal(await hitsOf('shop.example'), '0')
      t.not(await hitsOf('blog.example'), '0')
    })

    await t.test('a ban for all caches removes matching objects of all groups', async (t) => {
      await store('/img/1')
      await store('/kept')
      const { warnings } = await runToEnd(api, {
        type: 'ban',
        expressions: ['obj.http.x-url ~ ^/img/', 'obj.http.x-none == 1'],
        target: { all: true },
      })
      t.match(warnings, [/the header x-none.*matches nothing/])
      t.equal(await hitsOf('shop.example', '/img/1'), '0')
      t.equal(await hitsOf('blog.example', '/img/1'), '0')
      t.not(await hitsOf('shop.example', '/kept'), '0')
    })

    await t.test('a purge removes the objects of the URL', async (t) => {
      await store('/page?a=1')
      await store('/page')
      const urls = ['http://SHOP.example/page?a=1']
      const entry = await runToEnd(api, { type: 'purge', urls, target: { all: true } })
      t.match(entry, { stateName: 'Completed', results: [{ state: 'done', error: null }] })
      t.equal(await hitsOf('shop.example', '/page?a=1'), '0')
      t.not(await hitsOf('shop.example', '/page'), '0')
      t.not(await hitsOf('blog.example', '/page?a=1'), '0')
      const nobodys = { type: 'purge', urls: ['http://nobody.example/'], target: { all: true } }
      t.match(await invalidate(api, nobodys), { stateName: 'Completed', done: 1, total: 1 })
    })

    await t.test('an invalidation that the cache refuses fails, and delays no other', async (t) => {
      const bad = { type: 'ban', expression: 'req.url ~ (', target: { all: true } }
      const good = { type: 'ban', expression: 'req.url ~ x', target: { all: true } }
      const refused = await invalidate(api, bad)
      t.match(await runToEnd(api, good), { stateName: 'Completed' })
      t.match(await untilEnded(api, refused), {
        stateName: 'Failed',
        done: 0,
        results: [{ state: 'failed', error: /Regex compile error/ }],
      })
      t.equal((await api.call('PUT', `/invalidations/${refused.id}/retry`)).status, 202)
      t.match(await untilEnded(api, refused), { stateName: 'Failed', total: 1 })
      t.equal((await api.call('DELETE', `/invalidations/${refused.id}`)).status, 204)
    })

    await t.test('an agent that was Down runs the missed entries in order', async (t) => {
      await harness.agent.kill()
      await untilAgent(harness, 'Down')
      harness.port.forget()
      const missed: Invalidation[] = []
      for (let n = 1; n <= 100; n++)
        missed.push(
          await invalidate(api, {
            type: 'ban',
            expression: `obj.http.x-number == ${n}`,
            target: { all: true },
          }),
        )
      const [first] = missed
      t.match(first && (await readInvalidation(api, first.id)), { stateName: 'Waiting', done: 0 })
      harness.startAgent()
      await untilAgent(harness, 'Running')
      const seen = harness.port.commands.flatMap(
        (line) => /x-number == (\d+)/.exec(line)?.[1] ?? [],
      )
      t.same(
        [...new Set(seen)], // an interrupted link may repeat some
        missed.map((_, index) => String(index + 1)),
      )
      for (const entry of missed)
        t.match(await untilEnded(api, entry), { stateName: 'Completed', done: 1 })
    })

    await t.test(
      'an entry for an unreachable cache is retried; an empty cache completes it at once',
      async (t) => {
        harness.port.setFault('close')
        const ban = { type: 'ban', expression: 'obj.http.x-late == 1', target: { all: true } }
        const entry = await invalidate(api, ban)
        await eventually(
          'the entry is retried',
          async () => (await readInvalidation(api, entry.id)).stateName === 'Retrying',
        )
        harness.port.setFault('none')
        t.match(await untilEnded(api, entry), { stateName: 'Completed', done: 1 })

        await harness.agent.kill()
        await untilAgent(harness, 'Down')
        const empty = await invalidate(api, { ...ban, expression: 'obj.http.x-empty == 1' })
        await eventually(
          'it is older than the margin of src/agent/engine/child-age.ts',
          () => Date.now() - Date.parse(empty.created) > 1500,
        )
        await cache.restart()
        harness.port.forget()
        harness.startAgent()
        t.match(await untilEnded(api, empty), { stateName: 'Completed', done: 1 })
        t.notOk(harness.port.commands.some((line) => line.includes('x-empty')))
        await untilAgent(harness, 'Running')
      },
    )

    await t.test(
      'an entry that no agent ran in time expires; a cancelled entry is not run',
      async (t) => {
        await harness.agent.kill()
        const ban = { type: 'ban', expression: 'obj.http.x-old == 1', target: { all: true } }
        const short = await invalidate(api, { ...ban, ttl: 1 })
        const cancelled = await invalidate(api, ban)
        t.equal((await api.call('DELETE', `/invalidations/${cancelled.id}`)).status, 409)
        t.equal((await api.call('PUT', `/invalidations/${cancelled.id}/cancel`)).status, 200)
        t.match(await untilEnded(api, short), {
          stateName: 'Failed',
          results: [{ state: 'expired' }],
        })
        t.match(await readInvalidation(api, cancelled.id), {
          stateName: 'Cancelled',
          results: [{ state: 'cancelled' }],
        })
        harness.port.forget()
        harness.startAgent()
        await untilAgent(harness, 'Running')
        t.match(await runToEnd(api, { ...ban, expression: 'obj.http.x-new == 1' }), { done: 1 })
        t.notOk(harness.port.commands.some((line) => line.includes('x-old')))
      },
    )
  })

void t.test('the VCL of a root group handles its purges itself', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const { api } = harness
  const file = await api.makeFile('root.vcl', answering('root'))
  const deployment = await api.makeDeployment('root', await api.findTag(agentTag))
  const id = await api.makeGroup({ name: 'root', mainFile: file, deployment })
  expectDone(await api.act(id, 'deploy'))
  const target = { vclGroup: { id } }
  const ban = { type: 'ban', expression: 'obj.status == 200', target }
  t.match(await runToEnd(api, ban), { stateName: 'Completed', done: 1 })
  t.ok(
    harness.port.commands.includes('ban obj.status == 200'),
    'the ban covers the whole cache, whose objects have no mark',
  )
  const purge = { type: 'purge', urls: ['http://any.example/'], target }
  t.match(
    await runToEnd(api, purge),
    { stateName: 'Failed', results: [{ state: 'failed', error: /2xx: 1, .*counted: 0;/ }] },
    'its VCL answers 200 to every request, and purges nothing',
  )
  await api.editFile(file, purging)
  expectDone(await api.act(id, 'deploy'))
  t.match(await runToEnd(api, purge), {
    stateName: 'Completed',
    results: [{ state: 'done', error: null }],
  })
})
