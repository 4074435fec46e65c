/**
 * SIGKILL at every step of what is done to a group with a domain that shares its cache with another: its label moves, the
 * routing VCL changes, it comes and goes. It ends in the wanted state or the old one, and the other group never notices. Two
 * coordinators over PostgreSQL and NATS: agents are linked to the one that is not called.
 */
import t, { type Test } from 'tap'
import { listVcls } from '../agent/cache-sight.js'
import type { ApiAnswer } from '../support/api-client.js'
import { beside } from '../support/beside.js'
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
  startStand,
  startTraffic,
  untilAgent,
  type Site,
  type Stand,
} from './stand.js'

/** `domains`: another list of names and another VCL at once; `first`: nothing of the group is there yet. */
type Verb = 'domains' | 'rollback' | 'undeploy' | 'first'

/** The second `vcl.inline` is the routing VCL's. */
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

interface Lane {
  readonly stand: Stand
  readonly shop: Site
  /** Shares the cache. */
  readonly blog: Site
  /** The second of them is the shop's now and then. */
  readonly domains: readonly [number, number]
}

/** What the shop's name answers when it is not deployed. */
const absent = 'absent'

const moreHost = 'more.shop.example'

t.jobs = victims.length
for (const victim of victims)
  void t.test(`a swap survives the loss of the ${victim}`, beside(500_000), (t) =>
    runLane(t, victim),
  )

async function runLane(t: Test, victim: Victim): Promise<void> {
  const lane = await startLane(t)
  const { stand, shop, blog } = lane
  const traffic = startTraffic(t, stand.cache, blog.host)
  let count = 0
  for (const [verb, struck] of rows[victim])
    for (const step of struck) {
      const title = `${victim} lost in a ${verb}, ${describeStep(step)}`
      const { before, wanted, act } = await prepare(lane, verb, `${victim}-${++count}`)
      traffic.forget()

      const answer = await strike(stand, victim, step, act)

      const promise = readPromise(answer, { before, wanted })
      const mark = await untilAgreed(title, () => readShop(lane), promise)
      t.ok([before, wanted].includes(mark), `${title}: the wanted or the old one serves: ${mark}`)
      await checkTraffic(t, { stand, victim, title, traffic }, ['blog-first'])
      if (victim !== 'coordinator') await forgetFailures(stand)
    }
  await deploy(lane, 'last')
  t.equal(await readShop(lane), 'last', 'a last deploy works')
  t.equal(await readAgreement(stand, blog, shop), 'blog-first')
}

async function startLane(t: Test): Promise<Lane> {
  const stand = await startStand(t, { coordinators: 2 })
  await untilAgent(stand, 'Running')
  const domains = [
    await makeDomain(stand, 'shop.example'),
    await makeDomain(stand, moreHost),
  ] as const
  const shop = { ...(await makeSite(stand, 'shop')), host: 'shop.example' }
  const blog = { ...(await makeSite(stand, 'blog')), host: 'blog.example' }
  const lane = { stand, shop, blog, domains }
  await setDomains(stand, blog, [await makeDomain(stand, blog.host)])
  expectDone(await stand.api.act(blog.id, 'deploy'))
  await setDomains(stand, shop, domains.slice(0, 1))
  expectDone(await stand.api.act(shop.id, 'deploy'))
  await deploy(lane, 'second')
  return lane
}

function makeDomain({ api }: Stand, fqdn: string): Promise<number> {
  return api.make('/domains', { fqdn })
}

async function setDomains({ api }: Stand, { id }: Site, ids: readonly number[]): Promise<void> {
  const domains = ids.map((domain) => ({ id: domain }))
  expectDone(await api.call('PUT', `/vclgroups/${id}`, { domains }))
}

async function deploy({ stand, shop }: Lane, mark: string): Promise<void> {
  await editSite(stand, shop, mark)
  expectDone(await stand.api.act(shop.id, 'deploy'))
}

interface Prepared {
  readonly before: string
  /** What the shop's name answers when it is done. */
  readonly wanted: string
  readonly act: () => Promise<ApiAnswer>
}

async function prepare(lane: Lane, verb: Verb, mark: string): Promise<Prepared> {
  const { stand, shop } = lane
  const { api } = stand
  const read = () => untilAgreed('before a fault', () => readShop(lane))
  if (verb === 'first') expectDone(await api.act(shop.id, 'undeploy'))
  else if ((await read()) === absent) await deploy(lane, `${mark}-before`)
  const before = await read()
  const act = () => api.act(shop.id, verb === 'domains' || verb === 'first' ? 'deploy' : verb, wait)
  if (verb === 'undeploy') return { before, wanted: absent, act }
  if (verb === 'rollback') return { before, wanted: await readPrevious(lane, before), act }
  if (verb === 'domains') await toggleDomain(lane)
  await editSite(stand, shop, mark)
  return { before, wanted: mark, act }
}

const wait = '?wait=25'

async function readPrevious({ stand, shop }: Lane, now: string): Promise<string> {
  const marks = (await stand.api.readHistory(shop.id))
    .filter(({ revision, action }) => revision !== null && action !== 'undeploy')
    .map(({ mainVCL }) => shop.marks.get(mainVCL.version) ?? '')
  return marks.find((mark) => mark !== now) ?? 'none'
}

/** Against what is deployed: the list of the group may be one that was refused. */
async function toggleDomain({ stand, shop, domains }: Lane): Promise<void> {
  const { status } = await ask(stand.cache, moreHost)
  await setDomains(stand, shop, domains.slice(0, status === 404 ? 2 : 1))
}

/** What serves under the shop's name; throws until all agree, of both groups. */
async function readShop({ stand, shop, blog }: Lane): Promise<string> {
  await readAgreement(stand, blog, shop)
  if ((await stand.api.readGroup(shop.id)).deployed) return readAgreement(stand, shop, blog)
  const { status } = await ask(stand.cache, shop.host ?? '')
  const isOurs = new RegExp(`^cf-(l-${shop.id}$|${shop.id}-)`)
  const left = (await listVcls(stand.cache)).filter((name) => isOurs.test(name))
  if (status !== 404 || left.length > 0)
    throw new Error(`it answers ${status}, left: ${left.join()}`)
  return absent
}
