/**
 * Faults without a killed process: a link that is slow, dead or disorders its messages, a database of yesterday, one cache of three
 * that cannot compile what the others can.
 */
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import type { GroupView } from '../support/api-client.js'
import { makeStateDir, startAgent } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { readPromise, untilAgreed } from './faults.js'
import { parallel } from '../support/parallel.js'
import {
  agentTag,
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  untilServing,
  type Site,
  type Harness,
  type Traffic,
} from './harness.js'

t.jobs = 4

void t.test('the link disorders its messages', parallel(), async (t) => {
  const { harness, site, traffic } = await startSite(t)
  for (const how of ['late', 'twice'] as const)
    for (const kind of ['apply', 'applyReport', 'heartbeat', 'welcome'])
      await t.test(`${kind} comes ${how}`, async (t) => {
        const before = await readAgreement(harness, site)
        const wanted = `${kind}-${how}`
        await editSite(harness, site, wanted)
        const mixed = harness.link.disorder(kind, how)
        if (kind === 'welcome') await relink(harness)

        const answer = await harness.api.act(site.id, 'deploy', '?wait=25')

        await mixed
        const known = answer.status === 202 ? null : answer
        const promise = readPromise(known, { before, wanted })
        const mark = await untilAgreed(kind, () => readAgreement(harness, site), promise)
        t.ok([before, wanted].includes(mark))
      })
  t.same([...traffic.failures], [])
  t.equal((await harness.api.findAgent('edge'))?.drift, null)
  await checkDeploy(t, harness, site)
})

void t.test('the link is slow, then dead', parallel(), async (t) => {
  const { harness, site, traffic } = await startSite(t)

  await t.test('slow: deploys take longer', async () => {
    harness.link.setDelay(250)
    for (const mark of ['slow', 'slower']) {
      await editSite(harness, site, mark)
      await deploySite(harness, site)
      await untilServed(harness, site, mark)
    }
    harness.link.setDelay(0)
  })

  await t.test('dead while a deploy loads: the old VCL serves until the recovery', async (t) => {
    const before = await readAgreement(harness, site)
    await editSite(harness, site, 'unheard')
    const died = harness.port.trap({
      name: 'vcl.inline',
      moment: 'before',
      fate: 'pass',
      act: () => {
        harness.link.setFault('swallow')
      },
    })
    const answer = harness.api.act(site.id, 'deploy', '?wait=25')
    await died
    await untilAgent(harness, 'Down')
    t.match(readRefusal(await answer, 503), /\w/)
    t.equal((await fetchMark(harness.cache)).mark, before)
    t.equal((await harness.api.readGroup(site.id)).stateName, 'Error', 'the status reports it')

    harness.link.setFault('none')
    t.equal(await untilServed(harness, site, 'unheard'), 'unheard', 'the deploy is pending')
  })

  await t.test('dead before: the deploy is pending, and late agents get it', async (t) => {
    harness.link.setFault('swallow')
    await untilAgent(harness, 'Down')
    await editSite(harness, site, 'missed')
    readRefusal(await harness.api.act(site.id, 'deploy'), 503)
    harness.link.setFault('none')
    t.equal(await untilServed(harness, site, 'missed'), 'missed')
  })

  await t.test('interrupted repeatedly: deploys succeed', async (t) => {
    for (const mark of ['cut', 'cut-again']) {
      await editSite(harness, site, mark)
      const answer = harness.api.act(site.id, 'deploy', '?wait=25')
      await relink(harness)
      await relink(harness)
      t.ok([200, 503].includes((await answer).status))
      await untilServed(harness, site, mark)
    }
  })
  t.same([...traffic.failures], [])
  await checkDeploy(t, harness, site)
})

void t.test('the database of yesterday', parallel(), async (t) => {
  const { harness, site, traffic } = await startSite(t)
  const { api, coordinator, port } = harness
  const database = join(coordinator.stateDir, 'coordinator.db')
  const kept = join(await makeStateDir(t), 'yesterday.db')
  t.equal(await coordinator.daemon.stop(), 0)
  t.same(await listDatabase(coordinator.stateDir), ['coordinator.db'], 'the database is one file')
  await copyFile(database, kept)
  harness.link.forget()
  await coordinator.start()
  await untilLinked(harness)
  for (const mark of ['today', 'later-today']) {
    await editSite(harness, site, mark)
    await deploySite(harness, site)
  }
  const held = (await untilAgent(harness, 'Running')).config.desired.revision
  t.equal(await coordinator.daemon.stop(), 0)
  await copyFile(kept, database)
  port.forget()
  await coordinator.start()

  const { id } = await untilAgent(harness, 'Locked')
  await t.test('the agent changes nothing, and reports the reason', async (t) => {
    const { text } = await api.call('GET', `/agents/${id}`)
    t.match(text, `holds revision ${held}, the coordinator knows `)
    await editSite(harness, site, 'refused')
    readRefusal(await api.act(site.id, 'deploy'), 503)
    readRefusal(await api.call('PUT', `/agents/${id}/params/default_ttl`, { value: '77' }), 423)
    t.same(port.changes(), [])
    t.same(await fetchMark(harness.cache), { status: 200, mark: 'later-today' })
    t.equal((await api.readGroup(site.id)).stateName, 'Error')
  })

  await t.test('until it is unlocked: then the state of the coordinator counts', async (t) => {
    expectDone(await api.call('PUT', `/agents/${id}/unlock`))
    t.equal(
      await untilServed(harness, site, 'refused'),
      'refused',
      'the release of the refused deploy',
    )
    t.same([...traffic.failures], [], 'no request failed meanwhile')
  })
  await checkDeploy(t, harness, site)
})

void t.test('one cache of three cannot compile', parallel(), async (t) => {
  const harness = await startHarness(t)
  const { api, cache } = harness
  await untilAgent(harness, 'Running')
  const second = await addCache(t, harness, 'second')
  const third = await addCache(t, harness, 'third')
  const caches = [cache, second, third]
  const site = await makeSite(harness, 'site', { tag: agentTag, min: 3, max: 3 })
  await deploySite(harness, site)
  const traffic = caches.map((one) => startTraffic(t, one))
  const loaded = await Promise.all(caches.map(listVcls))
  await third.adm('param.set', 'vmod_path', '/nonexistent')

  await t.test('below min: no cache switches, and no VCL is left', async (t) => {
    site.marks.set(await api.editFile(site.file, importing('with-std')), 'with-std')
    const refusal = readRefusal(await api.act(site.id, 'deploy'), 422)
    t.match(refusal, /^site\.vcl line 2 pos \d+: .*std.*third/s)
    t.notMatch(refusal, 'second')
    for (const one of caches) await untilServing(one, 'site-first')
    await eventually('the loaded VCLs are discarded', async () => {
      const now = await Promise.all(caches.map(listVcls))
      return JSON.stringify(now) === JSON.stringify(loaded)
    })
    const group = await api.readGroup(site.id)
    t.match(group, { stateName: 'Active', revision: 1 })
    t.ok(group.agentStates.every(isApplied))
  })

  await t.test(
    'above min: the others switch, the failing one does not, and the status shows it',
    async (t) => {
      const { text } = await api.call('GET', '/deployments?name=site')
      const [deployment] = JSON.parse(text) as { id: number }[] // a list of deployments
      expectDone(await api.call('PUT', `/deployments/${deployment?.id ?? 0}`, { min: 2 }))
      await deploySite(harness, site)
      const marks = await Promise.all(caches.map((one) => fetchMark(one)))
      t.same(
        marks.map(({ mark }) => mark),
        ['with-std', 'with-std', 'site-first'],
      )
      const group = await api.readGroup(site.id)
      t.equal(group.stateName, 'Degraded')
      const failed = group.agentStates.filter((place) => !isApplied(place))
      t.match(failed, [{ agent: { name: 'third' }, state: 'failed', error: /std/ }])
    },
  )

  await t.test('the same deploy retries it, and creates no revision', async (t) => {
    const { revision } = await api.readGroup(site.id)
    const history = await api.readHistory(site.id)
    expectDone(await api.act(site.id, 'deploy'))
    t.match(await api.readGroup(site.id), { stateName: 'Degraded', revision })
    await third.adm('param.reset', 'vmod_path')
    expectDone(await api.act(site.id, 'deploy'))
    await untilServing(third, 'with-std')
    t.match(await api.readGroup(site.id), { stateName: 'Active', revision })
    t.same(await api.readHistory(site.id), history)
    for (const one of traffic) t.same([...one.failures], [])
  })
})

const isApplied = ({ state }: GroupView['agentStates'][number]): boolean => state === 'applied'

const importing = (mark: string): string =>
  answering(mark).replace('vcl 4.1;\n', 'vcl 4.1;\nimport std;\n')

async function addCache(t: Test, harness: Harness, name: string): Promise<Varnishd> {
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    coordinatorUrl: harness.link.url,
    name,
    stateDir: await makeStateDir(t),
    tags: [agentTag],
    joinToken: await harness.api.makeJoinToken(),
  })
  await untilAgent(harness, 'Running', name)
  return cache
}

async function listDatabase(stateDir: string): Promise<string[]> {
  return (await readdir(stateDir)).filter((name) => name.startsWith('coordinator.db'))
}

interface Deployed {
  readonly harness: Harness
  readonly site: Site
  readonly traffic: Traffic
}

async function startSite(t: Test): Promise<Deployed> {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  return { harness, site, traffic: startTraffic(t, harness.cache) }
}

async function relink({ link }: Pick<Harness, 'link'>): Promise<void> {
  link.forget()
  link.setFault('refuse')
  link.setFault('none')
  await untilLinked({ link })
}

async function untilLinked({ link }: Pick<Harness, 'link'>): Promise<void> {
  await eventually('linked again', () => link.count('welcome') > 0)
}

const untilServed = (harness: Harness, site: Site, mark: string): Promise<string> =>
  untilAgreed(mark, () => readAgreement(harness, site), mark)

async function checkDeploy(t: Test, harness: Harness, site: Site): Promise<void> {
  await editSite(harness, site, 'last')
  await deploySite(harness, site)
  t.equal(await readAgreement(harness, site), 'last', 'a last deploy works')
}
