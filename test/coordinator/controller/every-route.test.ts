/** The conventions of calls (docs/behaviour.md, Calls) on every route of the controller API; the route table makes the calls. */
import t, { type Test } from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import { basic, callHttp, type CallAnswer, type CallOptions } from '../../support/http-call.js'
import { startClient, type Client } from './client.js'
import { seed } from './seeded.js'

interface Tenants extends Client {
  /** Token of a user without permissions. */
  readonly nobody: string
}

interface Call {
  readonly route: Route
  /** The path of an existing object. */
  readonly path: string
  send(path: string, sending?: Sending): Promise<CallAnswer>
  /** Checks status, key and text of a refusal, and the fields common to all refusals. */
  refuses(answer: CallAnswer, wanted: string, message?: RegExp): void
}

interface Sending extends Omit<CallOptions, 'body'> {
  readonly method?: string
}

void t.test('every route', async (t) => {
  const tenants = await startTenants(t)
  await eachRoute(t, tenants, 'needs a token, and its answers say who asked and no more', (route) =>
    needsToken(t, tenants, route),
  )
  await eachRoute(t, tenants, 'tells the methods of its path', (route) => tellsMethods(t, route))
  await eachRoute(t, tenants, 'needs the permission of its type', (route) =>
    needsPermission(tenants, route),
  )
  await eachRoute(t, tenants, 'finds an object by its id only', (call) => findsById(t, call))
  await eachRoute(t, tenants, 'takes the parameters that it knows, once', refusesParameters)
  await eachRoute(t, tenants, 'takes JSON only', (call) => takesJson(call))
  await eachRoute(t, tenants, 'takes the keys that it knows, in any case', (call) =>
    refusesKeys(call),
  )
  await eachRoute(t, tenants, 'lists by the same rules', (call) => refusesLists(t, call))
})

async function startTenants(t: Test): Promise<Tenants> {
  const client = await startClient(t)
  await seed(client, 1)
  const password = 'long enough a word'
  const account = await client.expect(201, 'POST', '/accounts', { name: 'nobody', password })
  await client.expect(200, 'PUT', '/organizations/1/assign', { account: { id: account['id'] } })
  const { body } = await client.call('POST', '/api/v1/auth/login', {
    headers: { authorization: basic('nobody', password) },
    body: { org: 'organization 1' },
  })
  return Object.assign(client, { nobody: String(body['accessToken']) })
}

async function eachRoute(
  t: Test,
  tenants: Tenants,
  name: string,
  attempt: (call: Call) => Promise<void>,
): Promise<void> {
  await t.test(name, async (t) => {
    for (const route of tenants.routes) await attempt(toCall(t, tenants, route))
  })
}

function toCall(t: Test, { base, token: usual }: Tenants, route: Route): Call {
  return {
    route,
    path: `/api/v1${route.path.replace(/\{\w+\}/g, '1')}`,
    refuses: ({ status, headers, body }, wanted, message = /./) => {
      const name = `${route.method} ${route.path}: ${wanted} ${String(message)}`
      t.equal(`${status} ${String(body['errorKey'])}`, wanted, name)
      t.match(body['errorMsg'], message, name)
      t.equal(body['traceId'], headers.get('x-trace-id'), name)
    },
    send: (path, { method = route.method, ...sending } = {}) =>
      callHttp(method, base + path, { token: usual, ...sending }),
  }
}

async function needsToken(t: Test, tenants: Tenants, call: Call): Promise<void> {
  if (call.route.permission === 'public') return
  const traceId = 'this-is-who-asks'
  const headers = { 'x-trace-id': traceId, origin: 'https://evil.example' }
  const answer = await call.send(call.path, { token: null, headers })
  call.refuses(answer, '401 auth', /needs "Authorization: Bearer/)
  t.equal(answer.headers.get('x-trace-id'), traceId)
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.notMatch([...answer.headers.keys()].join(), /access-control|x-powered-by|server/)
  const forged = `${tenants.token.slice(0, -4)}AAAA`
  if (call.route.operationId === 'whoami')
    call.refuses(await call.send(call.path, { token: forged }), '401 auth')
}

async function tellsMethods(t: Test, call: Call): Promise<void> {
  const answer = await call.send(call.path, { method: 'PATCH' })
  call.refuses(answer, '405 method')
  t.ok(answer.headers.get('allow')?.split(', ').includes(call.route.method), call.path)
}

async function needsPermission({ nobody }: Tenants, call: Call): Promise<void> {
  const { permission, errorKey } = call.route
  if (typeof permission === 'string' || 'console' in permission) return
  const answer = await call.send(`${call.path}?bogus=1`, { token: nobody })
  const wanted = new RegExp(`permission to ${permission.access} "${permission.type}"`)
  call.refuses(answer, `403 ${errorKey}`, wanted)
}

async function findsById(t: Test, call: Call): Promise<void> {
  const { path, errorKey, method } = call.route
  if (!path.includes('{id}')) return
  const broken = method === 'GET' ? {} : { text: '{', headers: { 'content-type': 'text/plain' } }
  for (const id of [
    '987654321',
    '01',
    '0',
    '-1',
    '+1',
    '1.0',
    '0x1',
    '1e3',
    'one',
    '9'.repeat(17),
  ]) {
    const at = `/api/v1${path.replace('{id}', encodeURIComponent(id)).replace(/\{\w+\}/g, '1')}`
    const answer = await call.send(`${at}?bogus=1`, broken)
    call.refuses(answer, `404 ${errorKey}`)
    t.equal(answer.body['errorMsg'], `${id} was not found`)
  }
}

async function refusesParameters(call: Call): Promise<void> {
  const { query, errorKey } = call.route
  if (query && 'additionalProperties' in query && query.additionalProperties === true) return
  const wanted = `400 ${errorKey}`
  call.refuses(await call.send(`${call.path}?bogus=1`), wanted, /no parameter "bogus"/)
  for (const name of Object.keys(query?.properties ?? {})) {
    const other = name.toUpperCase()
    const twice = `${call.path}?${name}=1&${other}=1`
    call.refuses(await call.send(twice), wanted, /is given twice/)
    call.refuses(await call.send(`${call.path}?${name}=%00`), wanted, /U\+0000/)
  }
}

async function takesJson(call: Call): Promise<void> {
  if (call.route.method === 'GET') return
  const send = (text: string, headers = {}) => call.send(call.path, { text, headers })
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']
  for (const type of types) call.refuses(await send('{}', { 'content-type': type }), '415 body')
  call.refuses(await send('{}', { 'content-encoding': 'gzip' }), '415 body')
  call.refuses(await send('{'), '400 body', /not valid JSON/)
  const deep = `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`
  call.refuses(await send(deep), '400 body', /nested deeper than 64/)
  if (!call.route.body) return
  for (const text of ['[]', '"x"', '1', 'null'])
    call.refuses(await send(text), '400 body', /must be a JSON object/)
  if (call.route.bodyOptional !== true)
    call.refuses(await call.send(call.path), '400 body', /needs a body/)
}

async function refusesKeys(call: Call): Promise<void> {
  const { method, body, errorKey, ignoredKeys = [] } = call.route
  if (method === 'GET') return
  const wanted = `400 ${errorKey}`
  const send = (text: string) => call.send(call.path, { text })
  call.refuses(await send('{"bogusKey":1}'), wanted, /bogusKey/)
  call.refuses(await send('{"__proto__":{"a":1}}'), wanted, /__proto__/)
  if (!body || !('properties' in body)) return
  for (const [key, schema] of Object.entries(body.properties as object)) {
    const upper = key.toUpperCase()
    const named = new RegExp(`^${key}|\\b${key}\\b`, 'i')
    call.refuses(await send(`{"${key}":1,"${upper}x":1}`), wanted)
    call.refuses(await send(`{"${key}":1,"${upper}":1}`), wanted, /given twice/)
    if (isOfType(schema, 'object') || isOfType(schema, 'string'))
      call.refuses(await send(`{"${upper}":[[]]}`), wanted, /./)
    if (isOnlyRequired(body, key)) call.refuses(await send(`{"${key}":null}`), wanted, named)
  }
  if (method === 'PUT' && ignoredKeys.includes('id'))
    call.refuses(await send('{"ID":987654321}'), wanted, /id is another/)
}

function isOfType(schema: unknown, type: string): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === type
}

/** Only a single required key is named for certain: of several, the first missing one is named. */
function isOnlyRequired(schema: object, key: string): boolean {
  return 'required' in schema && JSON.stringify(schema.required) === JSON.stringify([key])
}

async function refusesLists(t: Test, call: Call): Promise<void> {
  const { query, errorKey } = call.route
  if (!query || !('take' in query.properties)) return
  for (const take of ['0', '1001', '-1', '1.5', '1,', '1,-1', '1,2,3', 'x', '', '01'])
    call.refuses(await call.send(`${call.path}?take=${take}`), `400 ${errorKey}`, /"take"/)
  for (const sort of ['nosuch', 'id:up', 'id:asc:desc', 'id;drop table tags', ''])
    call.refuses(await call.send(`${call.path}?sort=${sort}`), `400 ${errorKey}`, /"sort"/)
  // Rows without an id have a name.
  const none = 'id' in query.properties ? 'id=no-such-id' : 'name=no-such-name'
  for (const path of [call.path, `${call.path}?take=1`, `${call.path}?${none}`]) {
    const { status, headers } = await call.send(path)
    t.equal(status, 200, path)
    t.match(headers.get('x-total-count'), path.includes('no-such') ? /^0$/ : /^[1-9]/, path)
  }
}
