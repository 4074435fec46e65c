/**
 * One fleet of real caches: the first release in PATH, and those in the folders of CACHEFLEET_TEST_RELEASES. A group is
 * compiled on each, a refusal names the release, and a host moves to another release.
 */
import t, { type Test } from 'tap'
import { answering, fetchMark } from '../support/observe-cache.js'
import { attachTo, runTestAgent } from '../agent/run-agent.js'
import { call, makeHome } from '../cli/run-cli.js'
import { expectDone, readRefusal } from '../end-to-end/harness.js'
import type { CallAnswer } from '../support/http-call.js'
import { cacheProgram, findCacheProgram, readRelease } from '../support/cache-program.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'

const folders = (process.env['CACHEFLEET_TEST_RELEASES'] ?? '').split(':').filter(Boolean)
const programs = [cacheProgram, ...folders.map((folder) => findCacheProgram([folder]))]
/** Removed in 8.0; deprecated before. */
const old = (mark: string) =>
  `${answering(mark)}import std;\nsub vcl_recv { set req.http.X-N = std.real2integer(1.0, 0); }\n`

interface Edge {
  readonly name: string
  readonly title: string
  readonly release: string
  readonly hasOld: boolean
}

const edges = programs.map(({ daemon }): Edge => {
  const { name, product, version } = readRelease(daemon)
  const title = `${product === 'vinyl' ? 'Vinyl' : 'Varnish'} ${version}`
  return {
    name: `edge-${name.replaceAll('.', '-')}`,
    title,
    release: name,
    hasOld: Number.parseInt(version, 10) < 8,
  }
})

interface Refusing {
  /** Each refusing release with its agents, as in the message; empty: the request succeeds. */
  readonly named: readonly string[]
  readonly isWhole: boolean
}

function checkRefusal(t: Test, answer: CallAnswer, { named, isWhole }: Refusing): void {
  if (named.length === 0) {
    expectDone(answer)
    return
  }
  const told = readRefusal(answer, 422)
  t.match(told, /^main\.vcl line 6 pos \d+: Symbol not found: 'std\.real2integer'/)
  const releases = told.split('\n').at(-1)?.slice(1, -1).split('; ') ?? []
  t.ok(releases.length > 0)
  t.same(releases, isWhole ? named : named.filter((one) => releases.includes(one)))
}

void t.test('caches of several releases in one fleet', async (t) => {
  const coordinator = await startCoordinator(t, { words: ['--no-agent', '--heartbeat', '1'] })
  const { api } = coordinator
  const token = await api.makeJoinToken(edges.length)
  const caches = await Promise.all(
    programs.map((program) => startVarnishd(t, { vcl: answering('foreign'), program })),
  )
  for (const [at, cache] of caches.entries())
    await runTestAgent(t, { url: `ws://127.0.0.1:${coordinator.port}` }, attachTo(cache), {
      name: edges[at]?.name ?? '',
      tags: ['web'],
      http: { host: cache.host, port: cache.httpPort },
      joinToken: () => Promise.resolve(token),
    })
  const readAgents = async () => {
    const agents = await api.listAgents()
    return new Map(agents.map((agent) => [agent.name, agent]))
  }
  await eventually('all are Running', async () => {
    const agents = await readAgents()
    return edges.every(({ name }) => agents.get(name)?.stateName === 'Running')
  })
  const mainFile = await api.makeFile('main.vcl', answering('first'))
  const every = { min: edges.length, max: edges.length }
  const deployment = await api.makeDeployment('web', await api.findTag('web'), every)
  const id = await api.makeGroup({ name: 'site', mainFile, deployment })
  expectDone(await api.act(id, 'validate'))
  expectDone(await api.act(id, 'deploy'))
  for (const cache of caches) t.equal((await fetchMark(cache)).mark, 'first')

  await t.test('a refusal names its release and appears once', async (t) => {
    await api.editFile(mainFile, old('second'))
    const refusing = edges.filter(({ hasOld }) => !hasOld)
    const named = refusing.map(({ title, name }) => `${title}: agent ${name}`).toSorted()
    // A deploy ends with the first failure that leaves too few agents.
    for (const verb of ['validate', 'deploy'])
      checkRefusal(t, await api.act(id, verb), { named, isWhole: verb === 'validate' })
    const kept = edges.filter(({ hasOld }) => hasOld).map(({ release }) => release)
    if (kept.length === 0 || refusing.length === 0) return
    expectDone(await api.call('PUT', `/vclgroups/${id}`, { releases: kept }))
    expectDone(await api.call('PUT', `/deployments/${deployment}?force=true`, { min: 1 }))
    expectDone(await api.act(id, 'deploy'))
    for (const [at, { hasOld }] of edges.entries()) {
      const { status, mark } = await fetchMark(caches[at] ?? { host: '', httpPort: 0 })
      t.equal(hasOld ? mark : status, hasOld ? 'second' : 503, edges[at]?.title ?? '')
    }
  })

  await t.test('an agent and the program judge an upgrade alike', async (t) => {
    await api.editFile(mainFile, answering('third'))
    expectDone(await api.call('PUT', `/vclgroups/${id}`, { releases: null }))
    expectDone(await api.act(id, 'deploy'))
    const environment = {
      ...(await makeHome(t)),
      CACHEFLEET_SERVER: coordinator.base,
      CACHEFLEET_TOKEN: api.token,
    }
    for (const [at, { release, title }] of edges.entries()) {
      const words = ['upgrade-check', '--to', release, '--json']
      const program = ['--program', programs[at]?.daemon ?? '']
      for (const how of [[], program]) {
        const { out } = await call([...words, ...how], { environment })
        const { checkedBy, findings } = JSON.parse(out || '{}') as {
          checkedBy: string
          findings: { about: string; result: string }[]
        }
        t.match(checkedBy, title)
        t.match(findings[0], { about: 'vclgroup', result: 'ok' }, `${title} ${how.join(' ')}`)
        t.notOk(findings.some(({ result }) => result === 'unknown'))
      }
    }
  })

  await t.test('a host that returns with another release serves the same VCL', async (t) => {
    const [cache] = caches
    const [edge] = edges
    const other = programs.at(-1)
    if (!cache || !edge || !other) throw new Error('there is one at least')
    await cache.restart(other)
    const { revision } = await api.readGroup(id)
    await eventually('the new release is known, and the VCL serves', async () => {
      const agent = (await readAgents()).get(edge.name)
      const { mark } = await fetchMark(cache)
      const { stateName } = await api.readGroup(id)
      const isKnown = agent?.engineVersion === readRelease(other.daemon).version
      return isKnown && mark === 'third' && stateName === 'Active'
    })
    t.equal((await api.readGroup(id)).revision, revision, 'without a deploy')
  })
})
