/**
 * SIGKILL at every step of changes to a group with a domain that shares its cache with another: its label moves, the routing VCL
 * changes, it is deployed and undeployed. It ends in the new state or the old one, without any effect on the other group. Two
 * coordinators over PostgreSQL and NATS: the agents are connected to the one that is not called.
 */
import t, { type Test } from 'tap'
import { listVcls } from '../support/observe-cache.js'
import type { CallAnswer } from '../support/http-call.js'
import { parallel } from '../support/parallel.js'
import {
  after,
  around,
  checkTraffic,
  describeStep,
  forgetFailures,
  readPromise,
  strike,
  untilAgreed,
  victims,
  type Step,
  type Victim,
} from './faults.js'
import { ask } from './origin.js'
import {
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  startHarness,
  startShared,
  startTraffic,
  untilAgent,
  type Site,
  type Harness,
} from './harness.js'

/** `domains`: another list of names together with another VCL; `first`: no VCL of the group is loaded yet. */
type Verb = 'domains' | 'rollback' | 'undeploy' | 'first'

/** The second `vcl.inline` is that of the routing VCL. */
const rows: Readonly<Record<Victim, readonly (readonly [Verb, readonly Step[]])[]>> = {
  agent: [
    ['domains', around('vcl.inline', 'vcl.inline 2', 'vcl.label', 'vcl.use', 'vcl.discard')],
    ['rollback', around('vcl.label')],
    ['undeploy', after('vcl.inline', 'vcl.use', 'vcl.discard')],
    ['first', around('vcl.label')],
  ],
  coordinator: [
    ['domains', after('vcl.inline 2', 'vcl.label', 'vcl.use')],
    ['rollback', after('vcl.label')],
    ['undeploy', after('vcl.use')],
    ['first', after('vcl.label')],
  ],
  connection: [
    ['domains', after('vcl.inline', 'vcl.inline 2', 'vcl.label', 'vcl.use', 'vcl.discard')],
    ['rollback', after('vcl.label')],
  ],
  child: [
    ['domains', [...around('vcl.label', 'vcl.use'), ...after('vcl.inline 2', 'vcl.discard')]],
    ['rollback', after('vcl.label')],
    ['first', after('vcl.label')],
  ],
  manager: [
    ['domains', after('vcl.inline 2', 'vcl.label', 'vcl.use', 'vcl.discard')],
    ['rollback', around('vcl.label')],
  ],
}

interface Fixture {
  readonly harness: Harness
  readonly shop: Site
  /** Shares the cache. */
  readonly blog: Site
  /** The second one, of this name, belongs to the shop from time to time. */
  readonly domains: readonly [number, number]
  readonly moreHost: string
}

/** The result for the shop's name while it is not deployed. */
const absent = 'absent'

/** Each victim has its own agent and cache; killed coordinators are separate, too. */
t.jobs = victims.length
const pair = { coordinators: 2 } as const
const shared = startShared(t, pair)
for (const victim of victims)
  void t.test(`a swap survives the loss of the ${victim}`, parallel(), (t) => loseVictim(t, victim))

async function loseVictim(t: Test, victim: Victim): Promise<void> {
  const fixture = await startFixture(t, victim)
  const { harness, shop, blog } = fixture
  const traffic = startTraffic(t, harness.cache, blog.host)
  let count = 0
  for (const [verb, struck] of rows[victim])
    for (const step of struck) {
      const title = `${victim} lost in a ${verb}, ${describeStep(step)}`
      const { before, wanted, act } = await prepare(fixture, verb, `${victim}-${++count}`)
      traffic.forget()

      const answer = await strike(harness, victim, step, act)

      const promise = readPromise(answer, { before, wanted })
      const mark = await untilAgreed(title, () => readShop(fixture), promise)
      t.ok([before, wanted].includes(mark), `${title}: the wanted or the old one serves: ${mark}`)
      await checkTraffic(t, { harness, victim, title, traffic }, [served(blog)])
      await forgetFailures(harness, victim)
    }
  await deploy(fixture, 'last')
  t.equal(await readShop(fixture), 'last', 'a last deploy works')
  t.equal(await readAgreement(harness, blog, shop), served(blog))
}

/** The mark that an unedited group serves. */
const served = ({ marks }: Site): string => marks.get(1) ?? 'nothing'

async function startFixture(t: Test, victim: Victim): Promise<Fixture> {
  const harness = await startHarness(t, {
    ...(victim === 'coordinator' ? pair : { shared: await shared }),
    agentName: `edge-${victim}`,
    agentTag: `web-${victim}`,
  })
  await untilAgent(harness, 'Running')
  const shop = { ...(await makeSite(harness, `${victim}-shop`)), host: `shop.${victim}.example` }
  const blog = { ...(await makeSite(harness, `${victim}-blog`)), host: `blog.${victim}.example` }
  const moreHost = `more.${shop.host}`
  const domains = [
    await makeDomain(harness, shop.host),
    await makeDomain(harness, moreHost),
  ] as const
  const fixture = { harness, shop, blog, domains, moreHost }
  await setDomains(harness, blog, [await makeDomain(harness, blog.host)])
  expectDone(await harness.api.act(blog.id, 'deploy'))
  await setDomains(harness, shop, domains.slice(0, 1))
  expectDone(await harness.api.act(shop.id, 'deploy'))
  await deploy(fixture, 'second')
  return fixture
}

function makeDomain({ api }: Harness, fqdn: string): Promise<number> {
  return api.make('/domains', { fqdn })
}

async function setDomains({ api }: Harness, { id }: Site, ids: readonly number[]): Promise<void> {
  const domains = ids.map((domain) => ({ id: domain }))
  expectDone(await api.call('PUT', `/vclgroups/${id}`, { domains }))
}

async function deploy({ harness, shop }: Fixture, mark: string): Promise<void> {
  await editSite(harness, shop, mark)
  expectDone(await harness.api.act(shop.id, 'deploy'))
}

interface Prepared {
  readonly before: string
  /** The expected mark of the shop's name afterwards. */
  readonly wanted: string
  readonly act: () => Promise<CallAnswer>
}

async function prepare(fixture: Fixture, verb: Verb, mark: string): Promise<Prepared> {
  const { harness, shop } = fixture
  const { api } = harness
  const read = () => untilAgreed('before a fault', () => readShop(fixture))
  if (verb === 'first') expectDone(await api.act(shop.id, 'undeploy'))
  else if ((await read()) === absent) await deploy(fixture, `${mark}-before`)
  const before = await read()
  const act = () => api.act(shop.id, verb === 'domains' || verb === 'first' ? 'deploy' : verb, wait)
  if (verb === 'undeploy') return { before, wanted: absent, act }
  if (verb === 'rollback') return { before, wanted: await readPrevious(fixture, before), act }
  if (verb === 'domains') await toggleDomain(fixture)
  await editSite(harness, shop, mark)
  return { before, wanted: mark, act }
}

const wait = '?wait=25'

async function readPrevious({ harness, shop }: Fixture, now: string): Promise<string> {
  const marks = (await harness.api.readHistory(shop.id))
    .filter(({ revision, action }) => revision !== null && action !== 'undeploy')
    .map(({ mainVCL }) => shop.marks.get(mainVCL.version) ?? '')
  return marks.find((mark) => mark !== now) ?? 'none'
}

/** Compared with the deployed state, as the list of the group may have been refused. */
async function toggleDomain({ harness, shop, domains, moreHost }: Fixture): Promise<void> {
  const { status } = await ask(harness.cache, moreHost)
  await setDomains(harness, shop, domains.slice(0, status === 404 ? 2 : 1))
}

/** The mark that serves under the shop's name; throws until all parts agree on both groups. */
async function readShop({ harness, shop, blog }: Fixture): Promise<string> {
  await readAgreement(harness, blog, shop)
  if ((await harness.api.readGroup(shop.id)).deployed) return readAgreement(harness, shop, blog)
  const { status } = await ask(harness.cache, shop.host ?? '')
  const isOurs = new RegExp(`^cf-(l-${shop.id}$|${shop.id}-)`)
  const left = (await listVcls(harness.cache)).filter((name) => isOurs.test(name))
  if (status !== 404 || left.length > 0)
    throw new Error(`it answers ${status}, left: ${left.join()}`)
  return absent
}
