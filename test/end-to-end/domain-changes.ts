/** Changes to groups with domains while they serve: VCL, names, members of the cache, and becoming a root group. */
import type { Test } from 'tap'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import { caching, type Sites } from './domain-sites.js'
import { ask } from './origin.js'
import { expectDone, readRefusal, type Harness } from './harness.js'

export async function checkSwap(t: Test, harness: Harness, { shop, blog }: Sites): Promise<void> {
  const { api, cache, port } = harness
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
    'the routing VCL is unchanged',
  )
  t.equal(changes.filter((line) => line.startsWith(`vcl.label cf-l-${shop.id} `)).length, 3)
  t.notOk(changes.some((line) => line.includes(`cf-${blog.id}-`) || line.includes(`-l-${blog.id}`)))

  port.forget()
  expectDone(await api.act(shop.id, 'deploy'))
  t.same(port.changes(), [], 'the same deploy again changes nothing')
}

export async function checkNames(t: Test, harness: Harness, { shop, blog }: Sites): Promise<void> {
  const { api, cache } = harness
  const added = await api.make('/domains', { fqdn: 'bücher.example' })
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

export async function checkUndeploy(
  t: Test,
  harness: Harness,
  { shop, blog }: Sites,
): Promise<void> {
  const { api, cache } = harness
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

export async function checkTogether(
  t: Test,
  harness: Harness,
  { shop, blog }: Sites,
): Promise<void> {
  const { api, cache } = harness
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

export async function checkRoot(t: Test, harness: Harness, { shop }: Sites): Promise<void> {
  const { api, cache, port } = harness
  expectDone(await api.act(shop.id, 'deploy'))
  const domains = Object.values(shop.domains).slice(0, 1)
  t.equal(
    (await api.call('PUT', `/vclgroups/${shop.id}`, { root: true })).status,
    400,
    'it has domains',
  )
  t.equal((await api.call('PUT', `/vclgroups/${shop.id}`, { domains: [] })).status, 200)
  t.equal((await ask(cache, 'nobody.example')).status, 404, 'the change needs a deploy')
  await ask(cache, 'shop.example')
  port.forget()
  await api.editFile(shop.file, answering('alone'))
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'alone', 'for any Host')
  const order = (lines: readonly string[]) =>
    lines.map((line) => line.split(' ')[0]).filter((verb) => verb === 'ban' || verb === 'vcl.use')
  t.same(order(port.changes()), ['ban', 'vcl.use'], 'all objects are banned before the switch')
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
