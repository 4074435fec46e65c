/** The listener itself: health, metrics, documentation, certificates, shutdown. */
import { copyFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { route } from '../../../src/coordinator/http/route.js'
import { eventually } from '../../support/eventually.js'
import { root } from '../../support/root.js'
import { startController, type Controller } from '../../support/start-controller.js'
import { startThings } from './things.js'

const fixtures = join(root, 'test/fixtures/tls')

void t.test('readiness follows the phase, the store and the bus; health does not', async (t) => {
  const c = await startController(t)
  const ready = async (): Promise<string> => {
    const { status, body } = await c.call('GET', '/readyz')
    return `${status} ${String(body['errorMsg'] ?? body['status'])}`
  }

  t.equal(await ready(), '200 ready')
  for (const phase of ['starting', 'stopping'] as const) {
    c.phase = phase
    t.equal(await ready(), `503 the coordinator is ${phase}`)
  }
  c.phase = 'ready'
  await c.service.bus.close()
  t.equal(await ready(), '503 the bus does not answer')
  await c.service.store.close()
  t.equal(await ready(), '503 the store does not answer')
  t.equal((await c.call('GET', '/healthz')).status, 200)
})

void t.test('metrics count calls by template and agents by state, without names', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  await c.call('DELETE', '/api/v1/sessions/987654', { token })
  await eventually('the call is counted', async () =>
    (await c.call('GET', '/metrics')).text.includes('/sessions/{id}'),
  )

  const { headers, text } = await c.call('GET', '/metrics')

  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.match(text, 'cachefleet_agents{state="Running"} 0')
  t.match(text, 'cachefleet_agents{state="Down"} 0')
  t.match(
    text,
    'cachefleet_api_request_seconds_count{api="controller",route="/api/v1/sessions/{id}",status="404"} 1',
  )
  t.match(text, '# TYPE cachefleet_deploy_seconds histogram')
  t.match(text, 'process_resident_memory_bytes')
  for (const name of ['987654', 'root', '127.0.0.1']) t.notOk(text.includes(name), name)
})

void t.test(
  'the documentation page loads only files of this server, under a content security policy',
  async (t) => {
    const c = await startController(t)
    const page = await c.call('GET', '/docs/index.html')
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)

    t.match(page.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/)
    t.equal(loaded.length, 6)
    for (const url of loaded) {
      const target = new URL(url, `${c.base}/docs/index.html`)
      t.equal(target.origin, c.base)
      const { status, text } = await c.call('GET', target.pathname)
      t.equal(status, 200, url)
      if (url.endsWith('.css')) t.notMatch(text, /@import|url\(["']?https?:/)
    }
    t.notMatch(page.text, /<script>|style=/)
    for (const path of ['/docs', '/docs/'])
      t.equal((await c.call('GET', path)).headers.get('location'), '/docs/index.html')
    for (const path of [
      '/docs/nothing.html',
      '/docs/../package.json',
      '/docs/%2e%2e%2fpackage.json',
    ])
      t.equal((await c.call('GET', path)).status, 404, path)
  },
)

void t.test('the guides are served as HTML and their links lead to served pages', async (t) => {
  const c = await startController(t)
  const guides = new Map<string, string>()
  const read = async (path: string): Promise<string> => {
    const known = guides.get(path)
    if (known !== undefined) return known
    const { status, text, headers } = await c.call('GET', path)
    t.equal(status, 200, path)
    if (path.endsWith('.html')) t.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    guides.set(path, text)
    return text
  }
  const start = '/docs/deploying.html'
  const names = [...(await read(start)).matchAll(/href="\.\/([a-z]+\.html)"/g)].map(([, n]) => n)
  t.ok(names.includes('behaviour.html'))
  for (const name of new Set(names)) {
    const from = new URL(`/docs/${name}`, c.base)
    for (const [, href = ''] of (await read(from.pathname)).matchAll(/href="([^"]+)"/g)) {
      const to = new URL(href, from)
      if (to.origin !== from.origin) continue
      const anchor = to.hash.slice(1)
      const text = await read(to.pathname)
      t.ok(anchor === '' || text.includes(` id="${anchor}"`), `${name}: ${href}`)
    }
  }
})

interface OpenApi {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly securitySchemes: unknown }
}
interface Operation {
  readonly operationId: string
  readonly responses: Record<string, unknown>
  readonly security?: unknown
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Record<string, { readonly schema: unknown }>
  }
}

void t.test('the OpenAPI 3.1 document describes the served routes', async (t) => {
  const c = await startController(t, {
    resources: () => [
      route({
        method: 'PUT',
        path: '/things/{id}/parts/{part}',
        operationId: 'changePart',
        summary: 'Changes a part',
        errorKey: 'tag',
        permission: { type: 'tag', access: 'write' },
        query: Type.Object({ force: Type.Optional(Type.Boolean({ description: 'even in use' })) }),
        body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
        ignoredKeys: ['id', 'name', 'created'],
        answers: { 200: Type.Object({ id: Type.Integer() }), 202: null },
        handle: () => Promise.resolve({ status: 200, body: { id: 1 } }),
      }),
    ],
  })

  const { headers, text } = await c.call('GET', '/docs/openapi.json')

  t.match(headers.get('content-type'), /^application\/json/)
  const document = JSON.parse(text) as OpenApi
  t.equal(document.openapi, '3.1.0')
  t.match(document.components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } })
  const part = document.paths['/api/v1/things/{id}/parts/{part}']?.['put']
  t.same(
    part?.parameters?.map((p) => `${p.in} ${p.name}`),
    ['path id', 'path part', 'query force'],
  )
  const refusals = ['400', '401', '403', '404', '413', '415']
  t.same(Object.keys(part?.responses ?? {}), ['200', '202', ...refusals, 'default'])
  t.match(part?.requestBody?.content['application/json']?.schema, {
    additionalProperties: false,
    properties: { name: { type: 'string' }, id: { readOnly: true }, created: { readOnly: true } },
  })
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  t.ok(operations.every(({ responses }) => 'default' in responses))
  t.same(danglingReferences(document), [])
  t.match(document.paths, {
    '/api/v1/auth/login': { post: { security: [{ basic: [] }], requestBody: { required: false } } },
    '/api/v1/auth/refresh': { post: { security: [] } },
  })
})

/** The references that resolve to nothing. */
function danglingReferences(document: object): string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
  return references.flatMap(([, path = '']) => {
    const target = path
      .split('/')
      .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), document)
    return target === undefined ? [path] : []
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

void t.test('over TLS a reload takes a new certificate and rejects a broken one', async (t) => {
  const folder = t.testdir()
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
  const install = async (name: string): Promise<void> => {
    await copyFile(join(fixtures, `${name}.crt`), tls.certFile)
    await copyFile(join(fixtures, `${name}.key`), tls.keyFile)
  }
  await install('one')
  const s = await startThings({ tls })
  t.teardown(() => s.http.close())
  const url = new URL(s.base)

  t.equal(url.protocol, 'https:')
  t.equal(await readSubject(Number(url.port)), 'one.test')
  await install('two')
  t.equal(await readSubject(Number(url.port)), 'one.test')
  await s.http.reloadCertificates()
  t.equal(await readSubject(Number(url.port)), 'two.test')
  await writeFile(tls.keyFile, 'broken')
  await t.rejects(s.http.reloadCertificates())
  t.equal(await readSubject(Number(url.port)), 'two.test')
})

function readSubject(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

void t.test(
  'shutdown answers calls in progress and does not wait for idle connections',
  async (t) => {
    const waiting = waitForTest()
    const c = await startSlow(t, waiting)
    const token = await c.login()
    const idle = connect(Number(new URL(c.base).port), '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    const slow = c.call('PUT', '/api/v1/slow', { token })
    await waiting.entered

    const closing = c.http.close()
    await t.rejects(c.call('GET', '/healthz'), 'new connections are refused')
    waiting.leave()

    t.equal((await slow).status, 200)
    await closing
    await eventually(
      'the idle connection is closed',
      () => idle.closed || idle.destroyed || idle.readableEnded,
    )
    idle.destroy()
  },
)

interface Waiting {
  readonly entered: Promise<void>
  readonly wait: () => Promise<void>
  readonly leave: () => void
}

/** A handler that waits until the test releases it. */
function waitForTest(): Waiting {
  let openSession = (): void => undefined
  let leave = (): void => undefined
  const entered = new Promise<void>((resolve) => (openSession = resolve))
  const left = new Promise<void>((resolve) => (leave = resolve))
  return {
    entered,
    wait: () => {
      openSession()
      return left
    },
    leave: () => {
      leave()
    },
  }
}

function startSlow(t: Test, waiting: Waiting): Promise<Controller> {
  return startController(t, {
    resources: () => [
      route({
        method: 'PUT',
        path: '/slow',
        operationId: 'slow',
        summary: 'Takes its time',
        errorKey: 'deploy',
        permission: { type: 'vclgroup', access: 'write' },
        answers: { 200: Type.Unknown() },
        handle: async () => {
          await waiting.wait()
          return { status: 200, body: {} }
        },
      }),
    ],
  })
}

void t.test('a call whose caller has gone is still recorded with its result', async (t) => {
  const waiting = waitForTest()
  const c = await startSlow(t, waiting)
  const token = await c.login()
  const serverSawIt = new Promise((resolve) => {
    c.http.server.once('connection', (socket: Socket) => socket.once('close', resolve))
  })
  const call = request(`${c.base}/api/v1/slow`, {
    method: 'PUT',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'x-trace-id': 'gone-before-its-end' },
  })
  call.on('error', () => undefined)
  call.end()
  await waiting.entered
  call.destroy()
  await serverSawIt

  waiting.leave()

  const line = await eventually('the log line', () =>
    c.lines.find((l) => l['traceId'] === 'gone-before-its-end'),
  )
  t.match(line, { status: 200, msg: 'request' })
  await eventually('the log line about the caller that left', () =>
    c.lines.find(
      (l) => l['traceId'] === 'gone-before-its-end' && String(l['msg']).includes('the caller left'),
    ),
  )
  const entry = await eventually('the API log entry', () =>
    c.service.store.queries
      .selectFrom('apiLogs')
      .selectAll()
      .where('traceId', '=', 'gone-before-its-end')
      .executeTakeFirst(),
  )
  t.match(entry, { status: 200, keyType: 'vclgroup', account: 'root' })
})
