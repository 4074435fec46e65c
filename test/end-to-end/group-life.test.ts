/** The life of a deployed group on a real cache: rollbacks to earlier revisions, reloads, concurrent calls. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { fetchMark, listVcls } from '../support/observe-cache.js'
import { eventually } from '../support/eventually.js'
import { parallel } from '../support/parallel.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  ways,
  type Site,
  type Harness,
} from './harness.js'

t.jobs = 3

function rollBack({ api }: Harness, site: Site, revision?: unknown) {
  return api.call(
    'PUT',
    `/vclgroups/${site.id}/rollback`,
    revision === undefined ? {} : { revision },
  )
}

/** Revision, action and version of the newest entry. */
async function newestOf({ api }: Harness, site: Site): Promise<string> {
  const [entry] = await api.readHistory(site.id)
  return `${entry?.revision ?? 'none'} ${entry?.action} v${entry?.mainVCL.version}`
}

for (const [way, coordinators] of ways)
  void t.test(`back and forth, ${way}`, parallel(), async (t) => {
    const harness = await startHarness(t, { coordinators })
    await untilAgent(harness, 'Running')
    const site = await makeSite(harness, 'site')
    await t.test('a group that was never deployed cannot be rolled back', (t) =>
      checkNeverDeployed(t, harness, site),
    )
    await t.test('a rollback is a switch', (t) => checkRollback(t, harness, site))
    await t.test('a rollback compiles an unloaded VCL', (t) => checkFarBack(t, harness, site))
    await t.test('a reload compiles the same sources under a new name', (t) =>
      checkReload(t, harness, site),
    )
    await t.test('concurrent calls wait, or are refused', (t) => checkAtOnce(t, harness, site))
    await t.test('after an undeploy, a rollback restores the last VCL', (t) =>
      checkUndeployed(t, harness, site),
    )
    await t.test('with domains, a rollback moves the label', (t) => checkDomains(t, harness, site))
  })

async function checkNeverDeployed(t: Test, harness: Harness, site: Site): Promise<void> {
  readRefusal(await rollBack(harness, site), 404)
  readRefusal(await harness.api.act(site.id, 'reload'), 409)
  t.same(await harness.api.readHistory(site.id), [])
}

async function checkRollback(t: Test, harness: Harness, site: Site): Promise<void> {
  const { cache, port } = harness
  await deploySite(harness, site)
  await editSite(harness, site, 'second')
  await deploySite(harness, site)
  const [first] = (await listVcls(cache)).filter((name) => name.startsWith(`cf-${site.id}-`))
  const traffic = startTraffic(t, cache)

  port.forget()
  expectDone(await rollBack(harness, site))
  t.equal((await fetchMark(cache)).mark, 'site-first')
  t.match(port.changes(), [/^vcl\.use cf-/], 'one command')
  t.equal(await newestOf(harness, site), '3 rollback v1')
  t.equal(await readAgreement(harness, site), 'site-first')

  port.forget()
  expectDone(await rollBack(harness, site))
  t.equal((await fetchMark(cache)).mark, 'second', 'and back again')
  t.match(port.changes(), [/^vcl\.use cf-/])
  t.equal(await newestOf(harness, site), '4 rollback v2')
  t.ok((await listVcls(cache)).includes(first ?? ''))

  port.forget()
  expectDone(await rollBack(harness, site, 2))
  t.same(port.changes(), [], 'the revision that already serves causes no change')
  t.equal(await newestOf(harness, site), '4 rollback v2')
  t.match(readRefusal(await rollBack(harness, site, 99), 404), '99')
  readRefusal(await rollBack(harness, site, 'first'), 400)
  t.same([...traffic.failures], [])
}

async function checkFarBack(t: Test, harness: Harness, site: Site): Promise<void> {
  await editSite(harness, site, 'third')
  await deploySite(harness, site)
  expectDone(await rollBack(harness, site, 1))
  t.equal(await readAgreement(harness, site), 'site-first')
  t.equal(await newestOf(harness, site), '6 rollback v1')
  const ofGroup = (name: string) => name.startsWith(`cf-${site.id}-`)
  t.equal(
    (await listVcls(harness.cache)).filter(ofGroup).length,
    2,
    'the current and the previous VCL',
  )
}

async function checkReload(t: Test, harness: Harness, site: Site): Promise<void> {
  const { api, cache, port } = harness
  const before = await listVcls(cache)
  const traffic = startTraffic(t, cache)
  await editSite(harness, site, 'edited-later')
  port.forget()
  expectDone(await api.act(site.id, 'reload'))
  t.match(port.changes(), [/^vcl\.inline /, /^vcl\.use /, /^vcl\.discard /])
  t.equal(await readAgreement(harness, site), 'site-first', 'from the same sources, not the newest')
  t.equal(await newestOf(harness, site), '7 reload v1')
  const [name] = (await listVcls(cache)).filter((one) => !before.includes(one))
  t.match(name, new RegExp(`^cf-${site.id}-[0-9a-f]{8}-\\d+$`))
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['site-first'])
}

async function checkAtOnce(t: Test, harness: Harness, site: Site): Promise<void> {
  const { api, cache, port } = harness
  await editSite(harness, site, 'one-of-two')
  let release = (): void => undefined
  const gate = new Promise<void>((resume) => (release = resume))
  const sprung = port.trap({ name: 'vcl.inline', moment: 'before', fate: 'pass', act: () => gate })
  const first = api.act(site.id, 'deploy')
  await eventually('it is loading', async () => (await api.readGroup(site.id)).state === 6)
  t.match(readRefusal(await api.act(site.id, 'deploy', '?wait=0'), 409), 'in progress')
  for (const verb of ['undeploy', 'reload', 'rollback'])
    readRefusal(await api.act(site.id, verb, '?wait=0'), 409)
  const second = api.act(site.id, 'deploy')
  release()
  await sprung
  expectDone(await first)
  expectDone(await second)
  t.equal(await newestOf(harness, site), '8 deploy v5', 'the second had nothing to do')
  t.equal(await readAgreement(harness, site), 'one-of-two')

  await editSite(harness, site, 'or-nothing')
  const [deployed, undeployed] = await Promise.all([
    api.act(site.id, 'deploy'),
    api.act(site.id, 'undeploy'),
  ])
  expectDone(deployed)
  expectDone(undeployed)
  const group = await api.readGroup(site.id)
  if (group.deployed) t.equal(await readAgreement(harness, site), 'or-nothing')
  else t.same(await listVcls(cache), ['cf-idle'])
  if (group.deployed) expectDone(await api.act(site.id, 'undeploy'))
}

async function checkUndeployed(t: Test, harness: Harness, site: Site): Promise<void> {
  readRefusal(await harness.api.act(site.id, 'reload'), 409)
  const { revision } = await harness.api.readGroup(site.id)
  expectDone(await rollBack(harness, site))
  const group = await harness.api.readGroup(site.id)
  t.match(group, { deployed: true, revision: (revision ?? 0) + 1 })
  await readAgreement(harness, site)
}

async function checkDomains(t: Test, harness: Harness, site: Site): Promise<void> {
  const { api, cache, port } = harness
  const id = await api.make('/domains', { fqdn: 'www.example.com' })
  expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { domains: [{ id }] }))
  await editSite(harness, site, 'domain-first')
  await deploySite(harness, site)
  await editSite(harness, site, 'domain-second')
  await deploySite(harness, site)
  const { revision } = await api.readGroup(site.id)

  port.forget()
  expectDone(await rollBack(harness, site))
  t.match(port.changes(), [new RegExp(`^vcl\\.label cf-l-${site.id} `)], 'one command')
  const label = port.changes()[0]?.split(' ')[2] ?? ''
  t.match(await cache.adm('vcl.show', label), 'domain-first')

  expectDone(await rollBack(harness, site, (revision ?? 0) - 2))
  t.equal((await fetchMark(cache)).status, 200, 'and back to the revision without domains')
  await readAgreement(harness, site)
}

void t.test('a rollback to a cold VCL', parallel(), async (t) => {
  const harness = await startHarness(t, {
    agentWords: ['--warmup', '60'],
    cacheWords: ['-p', 'vcl_cooldown=1'],
  })
  const { api, cache, port } = harness
  await untilAgent(harness, 'Running')
  let isHealthy = true
  const origin = createServer((request, response) => {
    const isSick = request.url === '/health' && !isHealthy
    response.writeHead(isSick ? 503 : 200, { 'x-marker': 'origin' }).end()
  })
  await once(origin.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    origin.closeAllConnections()
    origin.close()
  })
  const site = await makeSite(harness, 'site')
  await api.editFile(
    site.file,
    `vcl 4.1;
backend probed {
  .host = "127.0.0.1";
  .port = "${(origin.address() as AddressInfo).port}";
  .probe = { .url = "/health"; .interval = 100ms; .window = 2; .threshold = 1; .initial = 0; }
}
sub vcl_recv { return (pass); }
`,
  )
  await deploySite(harness, site)
  await editSite(harness, site, 'plain')
  await deploySite(harness, site)
  // An idle worker thread holds the VCL that it served last until it has more to do.
  const traffic = startTraffic(t, cache)
  await eventually('the previous VCL is cold', async () =>
    /auto\s+cold\s+\d+\s+cf-\d/.test(await cache.ask('vcl.list')),
  )
  await traffic.stop()

  isHealthy = false
  port.forget()
  const rolling = rollBack(harness, site)
  await eventually('the rollback waits for its probes', () => {
    return port.commands.filter((line) => line.startsWith('backend.list')).length > 4
  })
  t.equal((await fetchMark(cache)).mark, 'plain')
  isHealthy = true
  expectDone(await rolling)
  t.same(await fetchMark(cache), { status: 200, mark: 'origin' }, 'the first request succeeds')
  t.notOk(
    port.changes().some((line) => line.startsWith('vcl.inline')),
    'nothing was compiled',
  )
  t.match(await cache.adm('vcl.list'), /^active\s+auto\s+warm/m, 'it may cool down again')
})
