/**
 * Attacks on objects: one test for each line of the checklist, with its name. Attacks on the identity of callers are in
 * ../identity/checklist.test.ts; attacks on statistics and graphs are tested with those.
 */
import { readdirSync } from 'node:fs'
import t from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import { basic } from '../../support/http-call.js'
import { startClient, type Client, type Json } from './client.js'
import { makeEditables } from './editables.js'
import { seed } from './seeded.js'

const password = 'long enough a word'
const script = '<script>alert(1)</script>'

void t.test('Web/API: IDOR across organizations on every id and list', async (t) => {
  const client = await startClient(t)
  await seed(client, 1)
  await client.service.store.queries.updateTable('agents').set({ organizationId: 1 }).execute()
  const eve = await moveIn(client, 'eve', 'blue')
  const own = await client.list('/organizations?name=blue')
  for (const route of client.routes) {
    const call = `${route.method} ${route.path}`
    if (route.path.includes('{id}')) {
      const answer = await eve(route.method, fill(route.path))
      t.equal(answer.status, 404, `${call}: ${answer.text}`)
      t.equal(answer.body['errorMsg'], '1 was not found', call)
    } else if (isList(route)) {
      const { headers, text } = await eve('GET', route.path)
      const seen = JSON.parse(text) as Json[] // a list
      t.equal(headers.get('x-total-count'), String(seen.length), call)
      t.ok(
        seen.every((row) => belongsTo(row, route.path, own[0])),
        `${call}: ${text}`,
      )
      for (const field of fieldsOf(route)) {
        const filtered = await eve('GET', `${route.path}?${field}=*`)
        const total = Number(filtered.headers.get('x-total-count'))
        t.ok(total <= seen.length, `${call} by ${field}`)
      }
    }
  }
})

/** An account is matched by its organizations, an organization by its own id. */
function belongsTo(row: Json, path: string, organization: Json | undefined): boolean {
  const { id, name } = organization ?? {}
  if (path === '/organizations') return row['id'] === id
  if (path === '/apilogs') return true // entries name no organization; totals are checked above
  const owner = JSON.stringify({ id, name })
  return JSON.stringify(row['organization'] ?? row['organizations']).includes(owner)
}

void t.test('Web/API: stored XSS by object name and VCL text', async (t) => {
  const client = await startClient(t)
  const bodies: Readonly<Record<string, Json>> = {
    '/tags': { name: script },
    '/files': { name: script, source: `vcl 4.1; # ${script}` },
    '/organizations': { name: script },
    '/accounts': { name: script.replaceAll(':', ''), password },
    '/jointokens': { label: script },
  }
  for (const [path, body] of Object.entries(bodies)) {
    const made = await client.send('POST', path, body)
    t.equal(made.status, 201, made.text)
    const answers = [
      made,
      await client.send('GET', path),
      await client.send('GET', `${path}?${encodeURIComponent(script)}=1`),
      await client.send('POST', path, { [script]: script }),
      await client.send('GET', `/${encodeURIComponent(script)}`),
    ]
    for (const { headers } of answers) {
      t.match(headers.get('content-type'), /^application\/json; charset=utf-8$/, path)
      t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    }
  }
  t.equal((await client.call('GET', `/docs/${encodeURIComponent(script)}`)).status, 404)
})

void t.test('Web/API: mass assignment on PUT', async (t) => {
  const client = await startClient(t)
  const editables = await makeEditables(client)
  for (const editable of editables) {
    const { path } = editable
    const at = `${path}/${await editable.make()}`
    const before = await client.expect(200, 'GET', at)
    const { ignoredKeys = [] } =
      client.routes.find((route) => route.method === 'PUT' && route.path === `${path}/{id}`) ?? {}
    for (const key of ignoredKeys.filter((name) => name !== 'id'))
      for (const value of [{ id: 1 }, 1, true, 'x', [], null])
        t.equal((await client.send('PUT', at, { [key]: value })).status, 200, `${path} ${key}`)
    const { updated, ...after } = await client.expect(200, 'GET', at)
    t.same({ ...after, updated: before['updated'] }, before, `${path} is as it was`)
    t.type(updated, 'string')
  }
})

void t.test('Web/API: SQL injection in filter; LIKE wildcards as ReDoS', async (t) => {
  const client = await startClient(t)
  await seed(client, 1)
  const attacks = ["' or 1=1 --", '%', '_%', "'; drop table tags; --", '${7*7}', '\\', '(a+)+$']
  const manyStars = `${'*a'.repeat(100)}*b`
  for (const route of client.routes.filter(isList))
    for (const field of fieldsOf(route)) {
      for (const attack of attacks) {
        const path = `${route.path}?${field}=${encodeURIComponent(attack)}`
        t.same(await client.list(path), [], path)
      }
      t.same(await client.list(`${route.path}?${field}=${manyStars}`), [])
      const tooMany = '*,'.repeat(101)
      const refused = await client.expect(400, 'GET', `${route.path}?${field}=${tooMany}`)
      t.match(refused, { errorMsg: /too many patterns/ })
    }
})

void t.test('Web/API: path traversal in file names', async (t) => {
  const client = await startClient(t)
  const before = readdirSync(client.stateDir, { recursive: true })
  const names = [
    '../../evil',
    '/etc/passwd',
    '..\\..\\evil',
    'C:\\evil',
    './../evil',
    '%2e%2e/evil',
  ]
  for (const name of names) {
    const { id } = await client.expect(201, 'POST', '/files', { name, source: 'vcl 4.1;' })
    t.match(await client.expect(200, 'GET', `/files/${String(id)}`), { name, source: 'vcl 4.1;' })
    await client.expect(404, 'GET', `/files/${encodeURIComponent(name)}`)
  }
  t.same(
    readdirSync(client.stateDir, { recursive: true }),
    before,
    'no file is written under a given name',
  )
})

void t.test('Web/API: integer and epoch overflows', async (t) => {
  const client = await startClient(t)
  await seed(client, 1)
  const expire = Math.floor(client.service.now() / 1000) + 3600
  const permissions = [{ type: 'tag', read: true }]
  const refused: readonly (readonly [method: string, path: string, body: Json])[] = [
    ...[9e15, 1e30, -1, 0.5].flatMap((number) => [
      ['POST', '/sessions', { label: 'x', expire: number, permissions }] as const,
      ['POST', '/jointokens', { label: 'x', expires: number }] as const,
      ['POST', '/jointokens', { label: 'x', maxUses: number }] as const,
      ['POST', '/organizations', { name: 'x', accessTTL: number }] as const,
      ['PUT', '/deployments/1', { min: number }] as const,
      ['PUT', '/vclgroups/1', { mainVCL: { id: 1, version: number } }] as const,
      ['PUT', '/vclgroups/1/rollback', { revision: number }] as const,
    ]),
    ['POST', '/sessions', { label: 'x', expire: expire + 366 * 86_400, permissions }],
    ['PUT', '/vclgroups/1/deploy?wait=99999999999', {}],
    ['PUT', '/vclgroups/1/deploy?wait=-1', {}],
    ['PUT', '/vclgroups/1/deploy?percent=101', {}],
  ]
  for (const [method, path, body] of refused) {
    const { status, text } = await client.send(method, path, body)
    t.ok(status === 400 || status === 404, `${method} ${path} ${JSON.stringify(body)}: ${text}`)
  }
  for (const route of client.routes.filter(isList)) {
    t.same(await client.list(`${route.path}?take=1000,999999999999999`), [], route.path)
    await client.expect(400, 'GET', `${route.path}?take=1,9999999999999999`)
  }
})

function isList({ method, path, query }: Route): boolean {
  return method === 'GET' && !path.includes('{') && 'take' in (query?.properties ?? {})
}

function fieldsOf({ query }: Route): string[] {
  return Object.keys(query?.properties ?? {}).filter((name) => name !== 'sort' && name !== 'take')
}

function fill(path: string): string {
  return path.replace(/\{\w+\}/g, '1')
}

/** An administrator of a new organization. */
async function moveIn(client: Client, name: string, organization: string) {
  const made = await client.expect(201, 'POST', '/organizations', { name: organization })
  await client.expect(201, 'POST', '/accounts', { name, password, organizations: [made] })
  const { body } = await client.call('POST', '/api/v1/auth/login', {
    headers: { authorization: basic(name, password) },
    body: { org: organization },
  })
  const token = String(body['accessToken'])
  return (method: string, path: string) => client.call(method, `/api/v1${path}`, { token })
}
