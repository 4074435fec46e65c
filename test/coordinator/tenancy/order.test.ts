/**
 * The order of checks, for every route (docs/behaviour.md, Calls): 401, then 405 and 404 of the path, 403 of the type, 404 of the object,
 * 415, 413 and 400 of the body, then errors of the call itself. That 403 precedes 404, and 404 precedes 415: matrix.test.ts.
 */
import { request } from 'node:http'
import t from 'tap'
import { bodyLimitBytes } from '../../../src/coordinator/http/body.js'
import type { Route } from '../../../src/coordinator/http/route.js'
import { callHttp, type CallOptions } from '../../support/http-call.js'
import { ids, startTenants, type Tenants } from '../identity/people.js'
import { seedTenant, nobodysId, settleOwner, type TenantObjects } from './tenant-objects.js'
import { addressOf, kindIn } from './samples.js'

const wrongBody = { headers: { 'content-type': 'text/plain' }, body: 'wrong' }

void t.test(
  'an anonymous caller learns nothing; one without permissions only which paths exist',
  async (t) => {
    const tenants = await startTenants(t)
    await tenants.makeOrganization('red')
    await tenants.addPerson('anna', 'red')
    const { token } = await tenants.addPerson('bert', 'red')
    for (const route of tenants.controller.routes) {
      const path = addressOf(route, nobodysId).replace(/\?.*/, '')
      const others = tenants.controller.routes.filter((other) => isSamePath(other, route))
      const isPublic = others.some(({ permission }) => permission === 'public')
      const ask = async (method: string, at: string, options: CallOptions): Promise<string> => {
        const { status, body } = await tenants.controller.call(method, `/api/v1${at}`, options)
        return `${status} ${String(body['errorKey'])}`
      }
      const what = `${route.method} ${route.path}`
      if (route.permission !== 'public') {
        const body = route.method === 'GET' ? {} : wrongBody
        t.equal(await ask(route.method, `${path}?bogus=1`, body), '401 auth', what)
      }
      t.equal(await ask('PATCH', path, wrongBody), isPublic ? '405 method' : '401 auth', what)
      t.equal(await ask('PATCH', path, { token, ...wrongBody }), '405 method', what)
      t.equal(await ask(route.method, `${path}/no/such/path/here/at/all`, {}), '401 auth', what)
      t.equal(
        await ask(route.method, `${path}/no/such/path/here/at/all`, { token }),
        '404 path',
        what,
      )
      const { headers } = await tenants.controller.call('PATCH', `/api/v1${path}`, { token })
      const allowed = headers.get('allow')?.split(', ') ?? []
      t.ok(
        others.every(({ method }) => allowed.includes(method)),
        what,
      )
    }
  },
)

void t.test('a wrong body or query is refused before the call has any effect', async (t) => {
  const tenants = await startTenants(t)
  const owner = await settleOwner(tenants, 'red')
  const objects = await seedTenant(tenants, owner)
  for (const route of tenants.controller.routes) {
    const kind = kindIn(route)
    const at = addressOf(route, kind === null ? undefined : objects[kind])
    const refusals = await refuse(tenants, route, at)
    t.same(refusals, route.method === 'GET' ? {} : wantedRefusals(route), `${route.method} ${at}`)
    const { status, body } = await tenants.controller.call(
      route.method,
      `/api/v1${withBogus(at)}`,
      {
        token: tenants.system.token,
      },
    )
    // The answer of an identity provider may have more parameters.
    if (route.operationId !== 'finishOidcLogin')
      t.match({ status, ...body }, { status: 400, errorMsg: /bogus/ }, `${at} bogus`)
  }
  t.same(await listLeft(tenants, objects), Object.keys(objects).sort(), 'no call had an effect')
})

function withBogus(at: string): string {
  return `${at}${at.includes('?') ? '&' : '?'}bogus=1`
}

function isSamePath(a: Route, b: Route): boolean {
  return a.path === b.path
}

async function refuse(tenants: Tenants, route: Route, at: string): Promise<Record<string, string>> {
  if (route.method === 'GET') return {}
  const { token } = tenants.system
  const send = async (type: string, text: string): Promise<string> => {
    const path = `${tenants.controller.base}/api/v1${at}`
    const { status, body } = await callHttp(route.method, path, { token, type, text })
    const { errorKey, errorMsg } = body
    const named = String(errorMsg).includes('bogus') ? ' bogus' : ''
    return `${status} ${String(errorKey)}${named}`
  }
  return {
    type: await send('text/plain', '{}'),
    length: await announce(tenants, route.method, at),
    syntax: await send('application/json', '{'),
    key: await send('application/json', '{"bogus": 1}'),
  }
}

function wantedRefusals({ errorKey }: Route): Record<string, string> {
  return { type: '415 body', length: '413', syntax: '400 body', key: `400 ${errorKey} bogus` }
}

/** Announces a body that is too large; the answer does not wait for it. */
function announce({ controller, system }: Tenants, method: string, at: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${controller.base}/api/v1${at}`, {
      method,
      headers: {
        authorization: `Bearer ${system.token}`,
        'content-type': 'application/json',
        'content-length': bodyLimitBytes + 1,
      },
    })
    sent.once('error', reject)
    sent.once('response', ({ statusCode }) => {
      resolve(String(statusCode))
      sent.off('error', reject).on('error', () => undefined)
      sent.destroy()
    })
    sent.flushHeaders()
  })
}

async function listLeft({ system }: Tenants, objects: TenantObjects): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(objects).map(async ([kind, id]) =>
      (await ids(system.call, `/${kind}s?id=${id}`)).includes(id) ? [kind] : [],
    ),
  )
  return found.flat().sort()
}
