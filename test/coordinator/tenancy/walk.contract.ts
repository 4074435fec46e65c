/**
 * Two organizations and every route that the server mounts, on any store: objects of one are for the other as if they had never existed
 * (docs/behaviour.md, Organizations). The calls come from the table of routes, so that a new route is covered too.
 */
import type { Test } from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import { quotaNames } from '../../../src/resources/quota.js'
import { instructionSubject } from '../../../src/coordinator/bus/subjects.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import type { CallAnswer } from '../../support/http-call.js'
import { eventually } from '../../support/eventually.js'
import { enrol } from '../controller/client.js'
import { idOf, password, rows, startTenants, type Json, type Tenants } from '../identity/people.js'
import { certificateText, kinds, makeObjects, nobodysId, webhookFields } from './tenant-objects.js'
import { seedTenant, settleOwner } from './tenant-objects.js'
import type { Kind, Objects, Owner, TenantObjects } from './tenant-objects.js'
import { addressOf, kindIn, sampleOf } from './samples.js'

interface Scene {
  readonly tenants: Tenants
  readonly red: Owner
  readonly blue: Owner
  /** Objects of the system administrator. */
  readonly system: Objects
  /** An agent that all organizations share. */
  readonly shared: number
}

/** Runs in one store: each walk leaves what the others need. */
export async function walkContract(t: Test, storeUrl: string): Promise<void> {
  const tenants = await startTenants(t, { storeUrl })
  const shared = await enrol(tenants.controller, 'shared', { tags: ['rack'] })
  const blue = await makeOwner(tenants, 'azure')
  answerForAgent(t, tenants, shared, blue)
  const before = await readSeen({ tenants, blue, shared })
  const red = await makeOwner(tenants, 'crimson')
  const system = await makeObjects(tenants.system, 'crimson-system')
  const scene: Scene = { tenants, red, blue, system, shared }

  await t.test('no answer to an organization depends on another one', (t) =>
    checkIndependence(t, scene, before),
  )
  await t.test("another organization's id is answered like one that never existed", (t) =>
    checkIds(t, scene),
  )
  await t.test('names that another organization uses are free', (t) => checkNames(t, scene))
  await t.test("a reference to another organization's object is like one to no object", (t) =>
    checkReferences(t, scene),
  )
  await t.test('an organization at its quotas is refused more, another one is not', (t) =>
    checkQuotas(t, scene),
  )
  await t.test('shared objects are read by all and changed by the system administrator', (t) =>
    checkShared(t, scene),
  )
}

type Answers = ReadonlyMap<string, string>

async function checkIndependence(t: Test, scene: Scene, before: Answers): Promise<void> {
  await setQuotas(scene, nothing)
  const after = await readSeen(scene)
  await setQuotas(scene, null)
  t.ok(after.size > 300, `${after.size} answers`)
  t.same(after, before)
  const told = [...after].filter(([, text]) => text.includes('crimson'))
  t.same(told, [], 'no answer mentions it')
  const found = [...after].filter(
    ([path, text]) => path.includes('=*crimson*') && !/^200 0 \[\]$|^400 /.test(text),
  )
  t.same(found, [], 'no filter finds it')
}

/** Existing objects of red stay, and more are refused. */
const nothing = Object.fromEntries(quotaNames.map((name) => [name, 0]))

async function setQuotas({ tenants, red }: Scene, quotas: Json | null): Promise<void> {
  await tenants.system.call(200, 'PUT', `/organizations/${red.organizationId}`, { quotas })
}

async function checkQuotas(t: Test, scene: Scene): Promise<void> {
  const { tenants, red, blue } = scene
  await setQuotas(scene, nothing)
  const asked = {
    '/tags': { name: 'more' },
    '/files': { name: 'more', source: 'vcl 4.1;' },
    '/domains': { fqdn: 'more.example' },
    '/certificates': { name: 'more', ...certificateText },
    '/webhooks': { name: 'more', ...webhookFields },
    '/deployments': { name: 'more', tags: [] },
    '/vclgroups': { name: 'more', mainVCL: 'file' },
    '/accounts': { name: 'more', password },
    '/invalidations': { type: 'ban', expression: 'obj.status == 1', target: { all: true } },
  }
  for (const [path, body] of Object.entries(asked)) {
    const make = async (owner: Owner): Promise<CallAnswer> => {
      const { tag, file } = owner.objects
      const own = {
        ...(path === '/deployments' && { tags: [{ id: tag }] }),
        ...(path === '/vclgroups' && { mainVCL: { id: file } }),
      }
      return ask(tenants, owner, path, { method: 'POST', body: { ...body, ...own } })
    }
    const refused = await make(red)
    t.equal(refused.status, path === '/invalidations' ? 429 : 409, path)
    t.match(refused.body['errorMsg'], /^organization "crimson" has its quota of 0 /, path)
    t.equal((await make(blue)).status, path === '/invalidations' ? 202 : 201, path)
  }
  const { organizationId } = red
  await t.rejects(enrol(tenants.controller, 'crimson-more', { organizationId }), {
    kind: 'conflict',
    message: /^organization "crimson" has its quota of 0 agents; delete some, or ask/,
  })
  await enrol(tenants.controller, 'azure-more', { organizationId: blue.organizationId })
  await setQuotas(scene, null)
}

/** Reads everything that blue may read, once its calls are in the api log. */
async function readSeen({
  tenants,
  blue,
  shared,
}: Pick<Scene, 'tenants' | 'blue' | 'shared'>): Promise<Answers> {
  await eventually('all of its calls are in the api log', async () => {
    const { text } = await ask(tenants, blue, '/apilogs?path=*idps')
    return text !== '[]'
  })
  const seen = { ...blue, objects: { ...blue.objects, agent: shared } }
  const ofShared = (route: Route): boolean => kindIn(route) === 'agent'
  return new Map([...(await readAll(tenants, blue)), ...(await readAll(tenants, seen, ofShared))])
}

async function checkIds(t: Test, scene: Scene): Promise<void> {
  const { tenants, red, blue } = scene
  const before = await readAll(tenants, red)
  let walked = 0
  for (const route of tenants.controller.routes) {
    const kind = kindIn(route)
    if (kind === null) continue
    const ask = async (id: number): Promise<string> =>
      tell(await send(tenants, blue, route, { id, body: bodyOf(route, blue.objects) }), id)
    const nothing = await ask(nobodysId)
    t.match(nothing, /^404 .*<id> was not found/, route.operationId)
    for (const id of idsOfOthers(scene, kind)) t.equal(await ask(id), nothing, route.operationId)
    walked++
  }
  t.ok(walked > 50)
  t.same(await readAll(tenants, red), before, 'no object of red has changed')
}

async function checkReferences(t: Test, scene: Scene): Promise<void> {
  const { tenants, blue } = scene
  const referred = new Set<Kind>()
  for (const route of tenants.controller.routes) {
    const right = bodyOf(route, blue.objects)
    if (right === undefined) continue
    const id = ownId(route, blue)
    for (const { kind, key } of listReferences(route, blue.objects)) {
      const ask = async (other: number): Promise<string> => {
        const foreign = bodyOf(route, { ...blue.objects, [kind]: other })
        const body = { ...right, [key]: foreign?.[key] }
        return tell(await send(tenants, blue, route, { id, body }), other)
      }
      const nothing = await ask(nobodysId)
      const what = `${route.operationId} ${key}`
      for (const other of idsOfOthers(scene, kind)) t.equal(await ask(other), nothing, what)
      const isForbidden = kind === 'organization' || sampleOf(route).system
      t.match(nothing, isForbidden ? /^403 / : new RegExp(`^400 .*\\b${key}\\b`), what)
      referred.add(kind)
    }
  }
  const all = [
    'account',
    'agent',
    'deployment',
    'domain',
    'file',
    'organization',
    'tag',
    'vclgroup',
  ]
  t.same([...referred].sort(), all)
  await lose(tenants, blue.objects.agent)
  await checkSamples(t, tenants, blue)
}

async function checkShared(t: Test, { tenants, blue, shared: agent }: Scene): Promise<void> {
  const [rack] = rows(await blue.administrator.call(200, 'GET', '/tags?name=rack'))
  const shared: Partial<Record<Kind, number>> = { agent, tag: idOf(rack) }
  for (const route of tenants.controller.routes) {
    const kind = kindIn(route)
    const id = kind === null ? undefined : shared[kind]
    if (id === undefined) continue
    const isReading = route.method === 'GET'
    const body = isReading ? undefined : { bogus: 1 }
    const { status, text } = await send(tenants, blue, route, { id, body })
    const right = isReading ? /^200 / : /^403 .*only the system administrator/
    t.match(`${status} ${text}`, right, route.operationId)
  }
}

async function checkNames(t: Test, { tenants, red, blue }: Scene): Promise<void> {
  for (const route of tenants.controller.routes) {
    const { system, body } = sampleOf(route)
    const isNamed = body && ['name', 'fqdn', 'label'].some((key) => key in body(noObjects))
    if (route.method !== 'POST' || system || !isNamed) continue
    const make = async (owner: Owner): Promise<number> =>
      (await send(tenants, owner, route, { body: bodyOf(route, owner.objects) })).status
    t.equal(await make(blue), 201, route.operationId)
    // docs/behaviour.md, Names: the names of accounts are global.
    t.equal(await make(red), route.operationId === 'createAccount' ? 409 : 201, route.operationId)
  }
}

function idsOfOthers({ red, system }: Scene, kind: Kind): readonly number[] {
  const ofSystem: Partial<TenantObjects> = system
  return [red.objects[kind], ofSystem[kind]].filter((id) => id !== undefined)
}

/** For samples of which only the keys are read. */
const noObjects = Object.fromEntries(kinds.map((kind) => [kind, 1])) as TenantObjects // of each kind

async function makeOwner(tenants: Tenants, mark: string): Promise<Owner> {
  const owner = await settleOwner(tenants, mark)
  return { ...owner, objects: await seedTenant(tenants, owner) }
}

function bodyOf(route: Route, objects: TenantObjects): Json | undefined {
  return sampleOf(route).body?.(objects)
}

function ownId(route: Route, { objects }: Owner): number | undefined {
  const kind = kindIn(route)
  return kind === null ? undefined : objects[kind]
}

interface Sent {
  readonly id?: number | undefined
  readonly body?: Json | undefined
}

function send(
  tenants: Tenants,
  owner: Owner,
  route: Route,
  { id, body }: Sent,
): Promise<CallAnswer> {
  return ask(tenants, owner, addressOf(route, id), { method: route.method, body })
}

function ask(
  { controller }: Tenants,
  { administrator: { token } }: Owner,
  path: string,
  { method = 'GET', body }: { readonly method?: string; readonly body?: Json | undefined } = {},
): Promise<CallAnswer> {
  return controller.call(method, `/api/v1${path}`, { token, body })
}

/** An answer without what differs in each: the trace id, and the id of the call. */
function tell({ status, text }: CallAnswer, id: number): string {
  const plain = text.replace(/"traceId":"[^"]*",?/, '')
  return `${status} ${plain.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '<id>')}`
}

/** The keys of a route's body that refer to objects, with their kinds. */
function listReferences(
  route: Route,
  own: TenantObjects,
): readonly { readonly kind: Kind; readonly key: string }[] {
  const right = bodyOf(route, own) ?? {}
  return kinds.flatMap((kind) => {
    const other = bodyOf(route, { ...own, [kind]: nobodysId }) ?? {}
    return Object.keys(right)
      .filter((key) => JSON.stringify(right[key]) !== JSON.stringify(other[key]))
      .map((key) => ({ kind, key }))
  })
}

/** Samples are valid but for what a test changes in them: with own objects no reference is refused. */
async function checkSamples(t: Test, tenants: Tenants, owner: Owner): Promise<void> {
  for (const route of tenants.controller.routes) {
    if (listReferences(route, owner.objects).length === 0) continue
    const body = bodyOf(route, owner.objects)
    const { status, text } = await send(tenants, owner, route, { id: ownId(route, owner), body })
    t.not(status, 400, `${route.operationId}: ${text}`)
  }
}

/** Every answer of every GET: all lists with each filter and order, each own object with all its sub-resources. */
async function readAll(
  tenants: Tenants,
  owner: Owner,
  isWanted: (route: Route) => boolean = () => true,
): Promise<Answers> {
  const answers = new Map<string, string>()
  for (const route of tenants.controller.routes) {
    if (route.method !== 'GET' || route.permission === 'public' || !isWanted(route)) continue
    const path = addressOf(route, ownId(route, owner))
    for (const query of listQueries(route)) {
      const asked = query === '' ? path : `${path}?${query}`
      const { status, headers, text } = await ask(tenants, owner, asked)
      const total = headers.get('x-total-count') ?? ''
      // The last use of a session changes during the calls: neither its time nor the order by it counts.
      const plain = text.replace(/"traceId":"[^"]*",?/, '').replace(/"lastUsed":"[^"]*"/g, '')
      const counted = query.startsWith('sort=lastUsed') ? plain.split('').sort().join('') : plain
      answers.set(asked, `${status} ${total} ${counted}`)
    }
  }
  return answers
}

/** The parameters of a list are the fields by which it can be filtered and sorted. */
function listQueries({ query }: Route): readonly string[] {
  const fields = Object.keys(query?.properties ?? {}).filter(
    (key) => key !== 'sort' && key !== 'take',
  )
  if (!query || !('take' in query.properties)) return ['']
  const ofField = fields.flatMap((field) => [`${field}=*crimson*`, `sort=${field}:desc`])
  return ['', 'take=1', 'take=1000,1', ...ofField]
}

/** Answers like the cache of a shared agent: only some of the names are this organization's. */
function answerForAgent(
  t: Test,
  { controller }: Tenants,
  agentId: number,
  { objects }: Owner,
): void {
  const others = objects.vclgroup + 1
  const names = [objects.vclgroup, others].flatMap((id) => [`cf-${id}-01234567-1`, `cf-l-${id}`])
  const value = ['cf-idle', 'crimson', ...names].map((name) => ({ name }))
  const subscription = controller.service.bus.respond(instructionSubject(agentId), (request) => {
    const isNamed = /"query":"(?:vcls|backends|bans|panic)"/.test(JSON.stringify(request))
    return Promise.resolve({ result: 'done', value: isNamed ? value : {}, error: null })
  })
  t.teardown(() => {
    subscription.close()
  })
}

/** Sets the agent Down: it does not answer, so each instruction to it would be waited for. */
async function lose({ controller }: Tenants, agentId: number): Promise<void> {
  await controller.service.store.queries
    .updateTable('agents')
    .set({ state: agentStates.Down })
    .where('id', '=', agentId)
    .execute()
}
