/**
 * Authorization: every route with every permission, for regular users, API tokens and administrators (docs/behaviour.md, Permissions). Each
 * call is invalid in everything behind the permission, so that it has no effect and its answer shows which checks it passed.
 */
import t, { type Test } from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import {
  permissionTypes,
  type Access,
  type PermissionType,
} from '../../../src/resources/permission.js'
import { idOf, startTenants, type Person, type Tenants } from '../identity/people.js'
import { nobodysId } from './tenant-objects.js'
import { addressOf, sampleOf } from './samples.js'

/** docs/behaviour.md, Tokens: a changed permission takes effect within 5 s. */
const believedMs = 4_900

interface Right {
  readonly type: PermissionType
  readonly access: Access
}

const rights: readonly Right[] = permissionTypes.flatMap((type) => [
  { type, access: 'read' },
  { type, access: 'write' },
])

void t.test('a regular user may do what its permissions grant; write implies read', async (t) => {
  const { tenants, anna, bert } = await start(t)
  await checkAll(t, tenants, { token: bert.token, right: null })
  for (const right of rights) {
    const made = await anna.call(201, 'POST', '/permissions', {
      account: { id: bert.id },
      type: right.type,
      write: right.access === 'write',
    })
    tenants.controller.advance(believedMs)
    await checkAll(t, tenants, { token: bert.token, right })
    await anna.call(204, 'DELETE', `/permissions/${idOf(made)}`)
  }
  tenants.controller.advance(believedMs)
  await checkAll(t, tenants, { token: bert.token, right: null })
})

void t.test('an API token may do what it was made for, whatever its account may', async (t) => {
  const { tenants, anna } = await start(t)
  const expire = Math.floor(tenants.controller.service.now() / 1000) + 3600
  for (const right of rights) {
    const limits = { type: right.type, [right.access]: true }
    const { accessToken } = await anna.call(201, 'POST', '/sessions', {
      label: `${right.type} ${right.access}`,
      expire,
      permissions: [limits],
    })
    await checkAll(t, tenants, { token: String(accessToken), right })
  }
})

void t.test('administrators may call everything', async (t) => {
  const { tenants, anna } = await start(t)
  for (const { token } of [anna, tenants.system])
    await checkAll(t, tenants, { token, right: 'all' })
})

interface Stage {
  readonly tenants: Tenants
  /** The administrator of an organization, and a regular user there. */
  readonly anna: Person
  readonly bert: Person
}

async function start(t: Test): Promise<Stage> {
  const tenants = await startTenants(t)
  await tenants.makeOrganization('red')
  return {
    tenants,
    anna: await tenants.addPerson('anna', 'red'),
    bert: await tenants.addPerson('bert', 'red'),
  }
}

interface Caller {
  readonly token: string
  /** Null: none; `all`: every one. */
  readonly right: Right | 'all' | null
}

async function checkAll(t: Test, tenants: Tenants, caller: Caller): Promise<void> {
  const { routes } = tenants.controller
  const answers = await Promise.all(
    routes.map(async (route) => [route.operationId, await probe(tenants, route, caller.token)]),
  )
  const wanted = routes.map((route) => [route.operationId, expectAnswer(route, caller.right)])
  const { right } = caller
  t.same(
    Object.fromEntries(answers),
    Object.fromEntries(wanted),
    right === null || right === 'all' ? (right ?? 'none') : `${right.type} ${right.access}`,
  )
}

async function probe({ controller }: Tenants, route: Route, token: string): Promise<string> {
  const { method } = route
  const isReading = method === 'GET'
  const { status, body } = await controller.call(
    method,
    `/api/v1${addressOf(route, nobodysId)}`,
    isReading ? { token } : { token, headers: { 'content-type': 'text/plain' }, body: 'wrong' },
  )
  return status === 403 ? `403 ${String(body['errorKey'])}` : String(status)
}

function expectAnswer(route: Route, right: Caller['right']): string {
  if (!isAllowed(route, right)) return `403 ${route.errorKey}`
  if (route.path.includes('{id}')) return '404'
  if (route.method !== 'GET') return '415'
  return publicAnswers[route.operationId] ?? '200'
}

function isAllowed(route: Route, right: Caller['right']): boolean {
  const { needs, needsToo } = sampleOf(route)
  if (needs === 'public' || needs === 'anyone' || right === 'all') return true
  const [type, access] = needs.split(' ')
  if (right?.type !== type || needsToo !== undefined) return false
  return right?.access === 'write' || right?.access === access
}

/** The answers to public calls without parameters. */
const publicAnswers: Readonly<Record<string, string>> = {
  beginOidcLogin: '404',
  finishOidcLogin: '400',
}
