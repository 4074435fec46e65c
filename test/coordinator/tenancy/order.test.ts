/**
 * The order of checks, for every route (docs/behaviour.md, Calls): 401, then 405 and 404 of the path, 403 of the type, 404 of
 * the object, 415, 413 and 400 of the body, then what the call itself would say. That 403 comes before 404, and 404 before 415:
 * matrix.test.ts.
 */
import { request } from 'node:http'
import t from 'tap'
import { bodyLimitBytes } from '../../../src/coordinator/http/body.js'
import type { Route } from '../../../src/coordinator/http/route.js'
import type { CallOptions } from '../../support/start-controller.js'
import { ids, startTown, type Town } from '../identity/people.js'
import { furnish, nobodysId, settleOwner, type Property } from './property.js'
import { addressOf, kindIn } from './samples.js'

const wrongBody = { headers: { 'content-type': 'text/plain' }, body: 'wrong' }

void t.test(
  'who is nobody is told nothing, and who may nothing only what paths there are',
  async (t) => {
    const town = await startTown(t)
    await town.makeOrganization('red')
    await town.move('anna', 'red')
    const { token } = await town.move('bert', 'red')
    for (const route of town.controller.routes) {
      const path = addressOf(route, nobodysId).replace(/\?.*/, '')
      const others = town.controller.routes.filter((other) => isSamePath(other, route))
      const isPublic = others.some(({ permission }) => permission === 'public')
      const ask = async (method: string, at: string, options: CallOptions): Promise<string> => {
        const { status, body } = await town.controller.call(method, `/api/v1${at}`, options)
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
      const { headers } = await town.controller.call('PATCH', `/api/v1${path}`, { token })
      const allowed = headers.get('allow')?.split(', ') ?? []
      t.ok(
        others.every(({ method }) => allowed.includes(method)),
        what,
      )
    }
  },
)

void t.test(
  'a wrong body is refused before the call looks at anything, a wrong query with it',
  async (t) => {
    const town = await startTown(t)
    const owner = await settleOwner(town, 'red')
    const property = await furnish(town, owner)
    for (const route of town.controller.routes) {
      const kind = kindIn(route)
      const at = addressOf(route, kind === null ? undefined : property[kind])
      const refusals = await refuse(town, route, at)
      t.same(refusals, route.method === 'GET' ? {} : wantedRefusals(route), `${route.method} ${at}`)
      const { status, body } = await town.controller.call(route.method, `/api/v1${withBogus(at)}`, {
        token: town.system.token,
      })
      // What a provider says may have more parameters.
      if (route.operationId !== 'finishOidcLogin')
        t.match({ status, ...body }, { status: 400, errorMsg: /bogus/ }, `${at} bogus`)
    }
    t.same(await listLeft(town, property), Object.keys(property).sort(), 'nothing came of it')
  },
)

function withBogus(at: string): string {
  return `${at}${at.includes('?') ? '&' : '?'}bogus=1`
}

function isSamePath(a: Route, b: Route): boolean {
  return a.path === b.path
}

async function refuse(town: Town, route: Route, at: string): Promise<Record<string, string>> {
  if (route.method === 'GET') return {}
  const { token } = town.system
  const send = async (type: string, text: string): Promise<string> => {
    const answer = await fetch(`${town.controller.base}/api/v1${at}`, {
      ...{ method: route.method, body: text },
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
    })
    const { errorKey, errorMsg } = (await answer.json()) as Record<string, unknown>
    const named = String(errorMsg).includes('bogus') ? ' bogus' : ''
    return `${answer.status} ${String(errorKey)}${named}`
  }
  return {
    type: await send('text/plain', '{}'),
    length: await announce(town, route.method, at),
    syntax: await send('application/json', '{'),
    key: await send('application/json', '{"bogus": 1}'),
  }
}

function wantedRefusals({ errorKey }: Route): Record<string, string> {
  return {
    ...{ type: '415 body', length: '413', syntax: '400 body' },
    key: `400 ${errorKey} bogus`,
  }
}

/** Says that a body will come which is too large; the answer does not wait for it. */
function announce({ controller, system }: Town, method: string, at: string): Promise<string> {
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

async function listLeft({ system }: Town, property: Property): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(property).map(async ([kind, id]) =>
      (await ids(system.call, `/${kind}s?id=${id}`)).includes(id) ? [kind] : [],
    ),
  )
  return found.flat().sort()
}
