/**
 * The walk over every route of the console with two organizations and a caller of each role (docs/behaviour.md, Console): who
 * may call it, that no answer reveals another organization or group, and that no input causes an internal error.
 */
import type { Test } from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import type { CallAnswer } from '../../support/http-call.js'
import type { Json } from '../identity/people.js'
import type { ConsoleCall } from './console-client.js'
import {
  kindOfParameter,
  kinds,
  nobodys,
  roles,
  startConsoleTenants,
  type Caller,
  type TenantObjects,
  type ConsoleTenant,
  type ConsoleTenants,
} from './tenants.js'
import { addressOf, parametersOf, sampleOf, sentBy } from './samples.js'

/** Every route refuses it before it has any effect. */
const wrongBody = { text: 'wrong', type: 'application/x-wrong' }

export interface Scene {
  readonly tenants: ConsoleTenants
  readonly red: ConsoleTenant
  readonly blue: ConsoleTenant
}

/** Two organizations with the same kinds of objects. */
export async function startScene(t: Test, storeUrl: string): Promise<Scene> {
  const tenants = await startConsoleTenants(t, { storeUrl })
  const [red, blue] = [await tenants.makeTenant('crimson'), await tenants.makeTenant('azure')]
  return { tenants, red, blue }
}

export async function tenancyContract(t: Test, scene: Scene): Promise<void> {
  // Runs first: later answers contain ids that the caller itself has requested.
  await t.test('no answer reveals another organization', (t) => checkNames(t, scene))
  await t.test('ids of another organization are answered like ids that do not exist', (t) =>
    checkForeignIds(t, scene),
  )
  await t.test('ids outside the groups of a user are answered like missing ids', (t) =>
    checkOutsider(t, scene),
  )
  await t.test('references to another organization are answered like missing ids', (t) =>
    checkReferences(t, scene),
  )
}

export async function checkRoles(t: Test, { tenants, blue }: Scene): Promise<void> {
  for (const route of routesOf(tenants)) {
    const { method, operationId } = route
    const at = addressOf(route, nobodys)
    const sent = method === 'GET' ? {} : wrongBody
    const nobody = await tenants.call(method, at, { as: null, ...sent })
    t.equal(nobody.status, 401, `${operationId} for nobody`)
    for (const role of roles) {
      const answer = await tenants.call(method, at, { as: blue.callers[role], ...sent })
      t.equal(answer.status, expectStatus(route, role), `${operationId} for ${role}`)
      if (answer.status >= 400) t.type(answer.body['message'], 'string', operationId)
    }
  }
}

function expectStatus(route: Route, role: Caller): number {
  const { needs } = sampleOf(route)
  const isAllowed = role === 'admin' || needs === 'read' || (needs === 'write' && role !== 'reader')
  if (!isAllowed) return 403
  if (route.path.includes('{id}')) return 404
  return route.method === 'GET' ? 200 : 415
}

async function checkForeignIds(t: Test, scene: Scene): Promise<void> {
  const { tenants, red, blue } = scene
  for (const route of routesOf(tenants))
    for (const name of parametersOf(route)) {
      const kind = kindOfParameter(route.path, name)
      if (kind)
        await compareIds(t, { ...scene, route, name, as: blue.callers.admin, ids: red.objects })
    }
  const left = await tenants.call('GET', '/v1/user', { as: red.callers.admin })
  t.ok(left.text.includes(red.objects.user), 'the other organization is unchanged')
}

async function checkOutsider(t: Test, scene: Scene): Promise<void> {
  const { tenants, blue } = scene
  const as = blue.callers.outsider
  for (const route of routesOf(tenants))
    for (const name of parametersOf(route))
      if (kindOfParameter(route.path, name))
        await compareIds(t, { ...scene, route, name, as, ids: blue.objects })
}

interface Comparison extends Scene {
  readonly route: Route
  /** Name of the parameter. */
  readonly name: string
  readonly as: string
  readonly ids: TenantObjects
}

async function compareIds(t: Test, comparison: Comparison): Promise<void> {
  const { tenants, blue, route, name, as, ids } = comparison
  const kind = kindOfParameter(route.path, name)
  if (kind === undefined) return
  const ask = async (of: TenantObjects): Promise<string> => {
    const at = addressOf(route, blue.objects, { [name]: of[kind] })
    const answer = await tenants.call(route.method, at, { as, ...sentBy(route, blue.objects) })
    return `${answer.status} ${answer.text.replaceAll(of[kind], '<id>')}`
  }
  const nothing = await ask(nobodys)
  t.match(nothing, /^40[34] /, `${route.operationId} ${name}`)
  t.equal(await ask(ids), nothing, `${route.operationId} ${name}`)
}

async function checkReferences(t: Test, { tenants, red, blue }: Scene): Promise<void> {
  for (const route of routesOf(tenants)) {
    const { body } = sampleOf(route)
    if (!body) continue
    for (const kind of kinds) {
      const of = (other: TenantObjects): Json => body({ ...blue.objects, [kind]: other[kind] })
      if (JSON.stringify(of(blue.objects)) === JSON.stringify(of(nobodys))) continue
      const ask = async (other: TenantObjects): Promise<string> => {
        const sent: ConsoleCall = { as: blue.callers.admin, body: of(other) }
        const answer = await tenants.call(route.method, addressOf(route, blue.objects), sent)
        return `${answer.status} ${answer.text.replaceAll(other[kind], '<id>')}`
      }
      const nothing = await ask(nobodys)
      t.match(nothing, /^40[04] /, `${route.operationId} ${kind}`)
      t.equal(await ask(red.objects), nothing, `${route.operationId} ${kind}`)
    }
  }
}

async function checkNames(t: Test, { tenants, red, blue }: Scene): Promise<void> {
  const hidden = kinds.map((kind) => red.objects[kind])
  for (const route of routesOf(tenants)) {
    if (route.method !== 'GET') continue
    for (const role of roles) {
      const at = addressOf(route, blue.objects)
      const { text } = await tenants.call('GET', at, { as: blue.callers[role] })
      const told = [red.mark, ...hidden].filter((one) => text.includes(one))
      t.same(told, [], `${route.operationId} for ${role}`)
    }
  }
}

const hostileIds = [
  ...['0', '-1', '7', 'f'.repeat(24), 'F0'.repeat(12), '9'.repeat(400), '%00', '%ff', '%0a'],
  ...['..%2f..', "90'%20or%201=1--", '%3c%3c', '%22', '*', '%E2%80%A8', '__proto__'],
]
const hostileValues = [null, true, -1, 1e300, '', '\0', '\ud800', 'x\nstop', '<< END', [[]], {}]
const hostileBodies = ['null', '[]', '"x"', '{', '{"__proto__": {"a": 1}}', '['.repeat(100), '\0']

export async function checkHostile(t: Test, { tenants, blue }: Scene): Promise<void> {
  const as = blue.callers.admin
  const judge = ({ status, body }: CallAnswer, what: string): void => {
    if (status < 400 || (status !== 500 && typeof body['message'] === 'string')) return
    if (status === 401 || status === 404) return // a controller path with its own error form
    t.fail(`${what}: ${status} ${JSON.stringify(body)}`)
  }
  for (const route of routesOf(tenants)) {
    const { method, operationId } = route
    const ask = async (at: string, sent: ConsoleCall): Promise<void> => {
      const answer = await tenants.call(method, at, { as, ...sent })
      judge(answer, `${operationId} ${at} ${JSON.stringify(sent)}`)
    }
    const right = sentBy(route, blue.objects)
    const addresses = parametersOf(route).flatMap((name) =>
      hostileIds.map((id) => addressOf(route, blue.objects, { [name]: id })),
    )
    await Promise.all(addresses.map((at) => ask(at, right)))
    if (method === 'GET') continue
    const at = addressOf(route, method === 'DELETE' ? nobodys : blue.objects)
    await Promise.all([...hostileCalls(route, blue.objects)].map((sent) => ask(at, sent)))
  }
  t.pass('each was answered')
}

function* hostileCalls(route: Route, own: TenantObjects): Iterable<ConsoleCall> {
  const { body, text } = sampleOf(route)
  for (const one of hostileBodies) yield { text: one, type: text?.type ?? 'application/json' }
  const right = body?.(own) ?? {}
  for (const key of Object.keys(right))
    for (const value of hostileValues) yield { body: { ...right, [key]: value } }
}

/** Routes that need credentials. */
function routesOf({ controller }: ConsoleTenants): readonly Route[] {
  return controller.consoleRoutes.filter(({ permission }) => permission !== 'public')
}
