/**
 * The order of checks, for every route of the console (docs/behaviour.md, Console): 401, 405, then 403 and 404 (checked by
 * the walk), then 415, 413 and 400 for the body; every answer must match the API document of the console.
 */
import { request } from 'node:http'
import t from 'tap'
import { bodyLimitBytes, mediaTypes } from '../../../src/coordinator/http/body.js'
import type { Method, Route } from '../../../src/coordinator/http/route.js'
import { readApiDocument } from '../../support/api-document.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import { nobodys, startConsoleTenants, type ConsoleTenant, type ConsoleTenants } from './tenants.js'
import { addressOf, sampleOf, sentBy } from './samples.js'

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const wrongType = { text: 'wrong', type: 'application/x-wrong' }

void t.test(
  'an unsupported method, even a rare one, answers 405 with Allow to permitted callers',
  async (t) => {
    const tenants = await startConsoleTenants(t)
    const { consoleRoutes } = tenants.controller
    for (const route of consoleRoutes) {
      const same = consoleRoutes.filter(({ path }) => path === route.path)
      const other = methods.find((method) => same.every((one) => one.method !== method))
      const at = addressOf(route, nobodys)
      const isPublic = same.some(({ permission }) => permission === 'public')
      const right = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      for (const wrong of [...(other ? [other] : []), 'PROPFIND']) {
        const what = `${wrong} ${route.path}`
        const nobody = await tenants.call(wrong, at, { as: null, ...bodyFor(wrong) })
        t.equal(nobody.status, isPublic ? 405 : 401, what)
        t.type(nobody.body['message'], 'string', `${what} is refused by the console`)
        const { status, headers } = await tenants.call(wrong, at, bodyFor(wrong))
        t.equal(status, 405, what)
        t.same(headers.get('allow')?.split(', ').toSorted(), right.toSorted(), what)
      }
    }
  },
)

void t.test('an invalid body is refused before the call has any effect', async (t) => {
  const tenants = await startConsoleTenants(t)
  const tenant = await tenants.makeTenant('red')
  const as = tenant.callers.admin
  for (const route of tenants.controller.consoleRoutes) {
    const { method, operationId, bodyTypes = ['json'], body } = route
    if (method === 'GET') continue
    const at = addressOf(route, tenant.objects)
    const send = async (sent: object): Promise<number> =>
      (await tenants.call(method, at, { as, ...sent })).status
    t.equal(await send(wrongType), 415, `${operationId} of another type`)
    t.equal(await announce(tenants, as, route, at), 413, `${operationId} that is too long`)
    if (!bodyTypes.includes('json')) continue
    t.equal(await send({ text: '{', type: 'application/json' }), 400, `${operationId} broken`)
    const text = body ? '[]' : '{"bogus": 1}'
    t.equal(await send({ text, type: 'application/json' }), 400, `${operationId} ${text}`)
  }
  const left = await tenants.call('GET', `/v1/user/${tenant.objects.user}`, { as })
  t.equal(left.status, 200, 'no call had an effect')
})

void t.test('every answer matches the API document', async (t) => {
  const tenants = await startConsoleTenants(t)
  const tenant = await tenants.makeTenant('red')
  const document = await readApiDocument(tenants.controller.base, 'console.json', true)
  const { consoleRoutes } = tenants.controller
  const ids = document.operations.map(({ id }) => id)
  t.same(
    ids.toSorted(),
    consoleRoutes.map(({ operationId }) => operationId).toSorted(),
    'the document lists each operation once',
  )
  for (const route of inHarmlessOrder(consoleRoutes)) {
    const operation = document.operations.find(({ id }) => id === route.operationId)
    const check = (answer: CallAnswer): void => {
      if (operation) document.check(operation, answer)
    }
    t.match(operation, { path: `/api${route.path}`, method: route.method })
    for (const answer of await tryAll(tenants, route, tenant))
      t.doesNotThrow(() => {
        check(answer)
      }, `${route.operationId} ${answer.status}`)
  }
})

void t.test('the API document describes ids, media types and the session', async (t) => {
  const { controller } = await startConsoleTenants(t)
  const { body } = await controller.call('GET', '/docs/console.json')
  t.match(body, {
    security: [{ basic: [] }, { session: [] }],
    components: { schemas: { Error: { required: ['message'] } } },
    paths: {
      '/api/rest/login': {
        post: {
          security: [],
          requestBody: { content: { 'application/x-www-form-urlencoded': {} } },
        },
      },
      '/api/rest/checkcookie': { get: { security: [{ session: [] }] } },
      '/api/v1/cache/{id}': {
        get: {
          tags: ['cache'],
          parameters: [{ name: 'id', schema: { pattern: '^[0-9a-f]{24}$' } }],
          responses: { 401: {}, 402: {}, 403: {}, 404: {}, 405: {} },
        },
      },
      '/api/v1/license/upload': {
        post: { requestBody: { content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
    },
  })
})

/** The answer to its Admin, and one refusal of each kind. */
async function tryAll(
  tenants: ConsoleTenants,
  route: Route,
  { objects, callers }: ConsoleTenant,
): Promise<CallAnswer[]> {
  const { method } = route
  const right = await tenants.call(method, addressOf(route, objects), {
    as: callers.admin,
    ...sentBy(route, objects),
  })
  if ([400, 500].includes(right.status) && !sampleOf(route).text)
    throw new Error(`${route.operationId}: ${right.status} ${right.text}; the sample must be right`)
  const at = addressOf(route, nobodys)
  return [
    right,
    await tenants.call(method, at, { as: null }),
    await tenants.call(method, at, { as: callers.reader, ...bodyFor(method) }),
    await tenants.call(method, at, { as: callers.admin, ...bodyFor(method) }),
    await tenants.call(method, `${at}?bogus=1`, { as: callers.admin }),
  ]
}

/** Reads come first, deletes last. */
function inHarmlessOrder(routes: readonly Route[]): readonly Route[] {
  const rank = ({ method }: Route): number => methods.indexOf(method)
  return routes.toSorted((a, b) => rank(a) - rank(b))
}

function bodyFor(method: string): object {
  return method === 'GET' ? {} : wrongType
}

/** Announces a body that is too large; the answer does not wait for the body. */
function announce(
  { controller }: ConsoleTenants,
  as: string,
  { method, bodyTypes: [type = 'json'] = [] }: Route,
  at: string,
): Promise<number | undefined> {
  const [name = '', password = ''] = as.split(':')
  return new Promise((resolve, reject) => {
    const sent = request(`${controller.base}/api${at}`, {
      method,
      headers: {
        authorization: basic(name, password),
        'content-type': mediaTypes[type],
        'content-length': bodyLimitBytes + 1,
      },
    })
    sent.once('error', reject)
    sent.once('response', ({ statusCode }) => {
      resolve(statusCode)
      sent.off('error', reject).on('error', () => undefined)
      sent.destroy()
    })
    sent.flushHeaders()
  })
}
