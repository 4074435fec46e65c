/**
 * `--takeover adopt`: the VCL that a live cache runs becomes a file and a deployed root group of its agent, without a command that
 * changes the cache and without a failed request, even if a process dies; a VCL that cannot be adopted keeps serving.
 */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isAtLeast } from '../../protocol/release.js'
import { answering, fetchMark, listVcls, quoted } from '../support/observe-cache.js'
import type { Reference } from '../support/api-client.js'
import type { Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy } from '../support/link-proxy.js'
import { startManagementProxy } from '../support/management-proxy.js'
import { readRelease } from '../support/cache-program.js'
import { startVarnishd } from '../support/varnishd.js'
import {
  addHost,
  adopt,
  intoFleet,
  readAdopted,
  startPlace,
  untilAdopted,
  type AdoptedAgent,
  type Adopting,
  type Place,
} from './adoption.js'
import { bothMoments, describeStep, strike, type Step, type Victim } from './faults.js'
import { ask, startOrigin, type Origin } from './origin.js'
import { parallel } from '../support/parallel.js'
import {
  expectDone,
  readRefusal,
  startCoordinators,
  startTraffic,
  untilAgent,
  untilServing,
} from './harness.js'

t.jobs = 5

interface FileView extends Reference {
  readonly source: string
  readonly fileType: number
}

/** Caches responses of the origin for an hour, and counts their hits. */
const storing = (origin: Origin, mark: string, more = ''): string =>
  `vcl 4.1;
# include "nothing.vcl";
${more}
backend origin { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_backend_response { set beresp.ttl = 1h; }
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; set resp.http.X-Hits = obj.hits; }
`

/** A folder that the cache's own user can read. */
async function makeVclFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-vcl-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'conf.d'))
  const files = {
    'lists.vcl': 'include "./conf.d/office.txt";\nacl everyone { "0.0.0.0"/0; }\n',
    'conf.d/office.txt': 'acl office { "127.0.0.1"; }',
    'conf.d/10-a.vcl': 'sub one { set req.http.X-One = "1"; }',
    'conf.d/20-b.vcl': 'sub two { set req.http.X-Two = "2"; }\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

void t.test('a live cache under load', parallel(), async (t) => {
  const origin = await startOrigin(t, 'site')
  const folder = await makeVclFolder(t)
  const hasGlob = isAtLeast(readRelease().version, '7.0')
  const several = hasGlob
    ? `include +glob "${folder}/conf.d/*.vcl";`
    : `include "${folder}/conf.d/10-a.vcl"; include "${folder}/conf.d/20-b.vcl";`
  const parts = `include "${folder}/lists.vcl"; ${several}
sub vcl_recv { call one; call two; if (client.ip !~ office || client.ip !~ everyone) { return (synth(403)); } }`
  const vcl = storing(origin, 'live', parts)
  const place = await startPlace(t, vcl)
  const { api, cache, port } = place
  await cache.adm('vcl.inline', 'unused', quoted(answering('unused')))
  await ask(cache, 'a.example')
  const traffic = startTraffic(t, cache)
  // Another group whose deploy would fit this agent.
  const deployment = await api.makeDeployment('other', await api.makeTag('web'))
  const other = await api.makeFile('other.vcl', answering('other'))
  const waiting = await api.makeGroup({ name: 'other', mainFile: other, deployment })
  readRefusal(await api.act(waiting, 'deploy'), 503)

  const edge = await adopt(t, place, 'edge', ['--tags', 'web'])
  const group = await untilAdopted(place, 'edge')

  await t.test('keeps its VCL; only VCLs that it does not use are discarded', async (t) => {
    t.same(port.changes(), ['vcl.discard unused'])
    t.same(await listVcls(cache), ['boot'])
    t.match(await readdir(join(edge.stateDir, 'foreign')), [/-unused\.vcl$/])
    t.equal((await ask(cache, 'a.example')).mark, 'live')
    t.equal(countFetches(origin, 'a.example'), 1, 'cached objects still hit')
  })

  await t.test('its files, tag and deployment are those of a group', async (t) => {
    const main = await readFile(api, group.mainVCL.id)
    t.equal(main.name, 'adopted-edge.vcl')
    const in_ = `adopted-edge${folder}`
    const named = parts.replace(/include .*;\n/, () =>
      ['lists.vcl', 'conf.d/10-a.vcl', 'conf.d/20-b.vcl']
        .map((name) => `include "${in_}/${name}"; `)
        .join('')
        .replace(/ $/, '\n'),
    )
    t.equal(main.source, storing(origin, 'live', named))
    const includes = await Promise.all(group.includes.map(({ id }) => readFile(api, id)))
    t.same(
      includes.map(({ name }) => name.slice(in_.length)),
      ['/conf.d/office.txt', '/lists.vcl', '/conf.d/10-a.vcl', '/conf.d/20-b.vcl'],
    )
    t.ok(includes.every(({ fileType }) => fileType === 2))
    t.same(
      (await api.findAgent('edge'))?.tags.map(({ name }) => name),
      ['web', 'adopted-edge'],
    )
    t.match(await api.readHistory(group.id), [{ revision: 1, action: 'adopt', result: 'ok' }])
    const placement = (await api.call('GET', `/vclgroups/${waiting}/placement`)).text
    t.match(placement, /a root group is placed there/, 'no other group was placed in between')
  })

  await t.test('after restarts of agent and cache, nothing is compiled', async (t) => {
    port.forget()
    await edge.agent.kill()
    edge.startAgent()
    await untilAgent(place, 'Running', 'edge')
    await traffic.stop()
    await cache.restart()
    await untilHeldAgain(place, 'edge')
    t.same(port.changes(), [])
    t.same([...traffic.failures], [])
  })

  await t.test('an edit is deployed, and rolled back by a switch', async (t) => {
    await ask(cache, 'b.example')
    const again = startTraffic(t, cache)
    const { source } = await readFile(api, group.mainVCL.id)
    await api.editFile(group.mainVCL.id, source.replace('"live"', '"edited"'))
    expectDone(await api.act(group.id, 'deploy'))
    const edited = await ask(cache, 'b.example')
    t.equal(edited.mark, 'edited')
    t.equal(countFetches(origin, 'b.example'), 1, 'cached objects still hit')
    port.forget()
    expectDone(await api.act(group.id, 'rollback'))
    t.equal((await ask(cache, 'b.example')).mark, 'live')
    t.same(
      port.changes().filter((line) => !/^vcl\.(use|discard)/.test(line)),
      [],
    )
    t.same([...again.failures], [])
  })
})

/** Also waits for a check of the new process of the cache. */
async function untilHeldAgain(place: Place, name: string): Promise<void> {
  const at = Date.now()
  await eventually('the agent has checked the new process', async () => {
    const agent = await place.api.findAgent(name)
    const isNew = Date.parse(agent?.lastHeartbeat ?? '') > at + 4_000
    if (agent?.stateName !== 'Running' || !isNew || agent.drift !== null)
      throw new Error(JSON.stringify(agent))
    return true
  })
}

function countFetches({ seen }: Origin, host: string): number {
  return seen.filter(({ headers }) => headers['host'] === host).length
}

async function readFile(api: Place['api'], id: number): Promise<FileView> {
  return JSON.parse((await api.call('GET', `/files/${id}`)).text) as FileView // the API's schema
}

void t.test('VCLs that cannot be adopted, and edge cases', parallel(), async (t) => {
  await t.test('labels: adoption is refused, and the VCL serves until a deploy', async (t) => {
    const place = await startPlace(t, answering('labelled'))
    const { api, cache, port } = place
    await cache.adm('vcl.label', 'l-shop', 'boot')
    const routing = 'vcl 4.1;\nbackend default none;\nsub vcl_recv {\n  return (vcl(l-shop));\n}\n'
    await cache.adm('vcl.inline', 'routing', quoted(routing))
    await cache.adm('vcl.use', 'routing')
    const traffic = startTraffic(t, cache)
    await adopt(t, place, 'edge', ['--tags', 'web'])
    const error = await untilRefused(place)
    t.match(error, /routing hands requests to labelled VCL .* <vcl\.inline> line 4/)
    t.same(port.changes(), [])
    const { text } = await api.call('GET', '/apilogs?severity=2')
    t.match(text, /the VCL that the cache of agent edge runs cannot be adopted: routing/)
    const deployment = await api.makeDeployment('web', await api.findTag('web'))
    const file = await api.makeFile('site.vcl', answering('site'))
    const group = await api.makeGroup({ name: 'site', mainFile: file, deployment })
    expectDone(await api.act(group, 'deploy'))
    await untilServing(cache, 'site')
    t.same([...traffic.failures], [])
  })

  await t.test('a text that is not UTF-8 is refused', async (t) => {
    const place = await startPlace(t, answering('bytes'))
    const { cache } = place
    const bytes = answering('latin').replace(/$/, '# na\\xefve\n')
    await cache.adm('vcl.inline', 'latin', JSON.stringify(bytes).replaceAll('\\\\', '\\'))
    await cache.adm('vcl.use', 'latin')
    await adopt(t, place, 'edge')
    t.match(await untilRefused(place), /not UTF-8/)
    t.equal((await fetchMark(cache)).mark, 'latin')
  })

  await t.test('a text over 1 MiB is sent outside of the link', async (t) => {
    const filler = `# ${'x'.repeat(1022)}\n`.repeat(1100)
    const vcl = `${answering('large')}${filler}`
    const place = await startPlace(t, vcl)
    await adopt(t, place, 'edge')
    const group = await untilAdopted(place, 'edge')
    t.equal((await readFile(place.api, group.mainVCL.id)).source, vcl)
    const changes = place.port.changes().map((line) => line.split(' ').slice(0, 2).join(' '))
    // Raised and restored for each reading: for the report, for the adoption, and again if the question is repeated.
    t.equal(changes.length % 2, 0)
    t.same([...new Set(changes)], ['param.set cli_limit'])
    t.equal((await fetchMark(place.cache)).mark, 'large')
  })
})

async function untilRefused({ api }: Place): Promise<string> {
  return eventually('the adoption is refused', async () => {
    const agent = (await api.findAgent('edge')) as AdoptedAgent | undefined
    if (agent?.stateName !== 'Running' || agent.adoption?.result !== 'refused')
      throw new Error(JSON.stringify(agent))
    return agent.adoption.error ?? ''
  })
}

void t.test('with two coordinators over PostgreSQL', parallel(), async (t) => {
  const words = ['--no-agent', '--heartbeat', '2']
  const cache = await startVarnishd(t, { vcl: answering('live') })
  const [coordinator, linked] = await startCoordinators(t, words)
  const link = await startLinkProxy(t, linked.port)
  const port = await startManagementProxy(t, cache)
  const place: Place = { cache, coordinator, api: coordinator.api, link, port }

  const edge = await adopt(t, place, 'edge')
  const group = await untilAdopted(place, 'edge')

  await place.api.editFile(group.mainVCL.id, answering('edited'))
  expectDone(await place.api.act(group.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'edited')
  // Its host is reinstalled: the new agent has only its name, and takes over the deployed configuration.
  await edge.agent.kill()
  await untilAgent(place, 'Down', 'edge')
  const again = await adopt(t, place, 'edge')
  const traffic = startTraffic(t, cache)
  await untilAgent(place, 'Running', 'edge')
  await eventually('the agent holds the deployed configuration', async () => {
    const agent = await place.api.findAgent('edge')
    return agent?.config.effective.revision === agent?.config.desired.revision
  })
  t.equal((await readAdopted(place, 'adopted-edge')).id, group.id, 'nothing is adopted twice')
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['edited'])
  await again.agent.stop()

  // Each connects to another coordinator, at the same time.
  const other = { coordinator: linked, link: await startLinkProxy(t, coordinator.port) }
  const hosts = await Promise.all([
    addHost(t, place, answering('shared')),
    addHost(t, other, answering('shared')),
  ])
  await Promise.all(hosts.map((host, index) => adopt(t, host, `twin-${index}`, intoFleet)))
  const ids = await Promise.all(
    hosts.map(async (host, index) => (await untilAdopted(host, `twin-${index}`, 'fleet')).id),
  )
  t.equal(new Set(ids).size, 1)
  t.same(
    hosts.map(({ port: touched }) => touched.changes()),
    [[], []],
  )
})

const onLink = (...names: readonly string[]): Step[] =>
  names.flatMap((name) => bothMoments({ on: 'link', name, nth: 1 }))
/** Everything that is saved or decided lies between the question and the report. */
const decisive = onLink('showRunning', 'answer').slice(1)
const steps: Readonly<Record<'agent' | 'coordinator', readonly Step[]>> = {
  agent: [
    ...onLink('hello', 'welcome').slice(1, 3),
    ...decisive,
    ...bothMoments({ on: 'link', name: 'apply', nth: 1 }),
    ...bothMoments({ on: 'port', name: 'vcl.show', nth: 1 }),
    ...bothMoments({ on: 'port', name: 'vcl.show', nth: 2 }),
  ],
  // Not at the report, which a slow agent sends together with the following messages.
  coordinator: [...decisive, { on: 'link', name: 'apply', nth: 1, moment: 'after' }],
}

for (const victim of ['agent', 'coordinator'] as const)
  void t.test(`the ${victim} dies on the way`, parallel(), async (t) => {
    const place = await startPlace(t, answering('live'))
    const traffic = startTraffic(t, place.cache)
    for (const [index, step] of steps[victim].entries()) {
      const title = describeStep(step)
      const name = `edge-${index}`
      place.port.forget()
      await strikeAdoption(t, place, { victim, step, name })
      t.same(place.port.changes(), [], `${title}: the cache is not touched`)
    }
    t.same([...traffic.failures], [])
    t.same([...traffic.marks], ['live'])
  })

/** Each agent is a new one for the same cache, and finds its VCL unchanged. */
async function strikeAdoption(
  t: Test,
  place: Place,
  { victim, step, name }: { readonly victim: Victim; readonly step: Step; readonly name: string },
): Promise<void> {
  let edge: Adopting | undefined
  const struck = {
    ...place,
    get agent(): Daemon {
      if (!edge) throw new Error('no agent yet')
      return edge.agent
    },
    startAgent: () => {
      edge?.startAgent()
    },
  }
  await strike(struck, victim, step, async () => {
    edge = await adopt(t, place, name)
    return null
  })
  await untilAdopted(place, name)
  await edge?.agent.stop()
}
