/**
 * The attacks on the listener before authentication that must be survived: one test each, named after its line in the checklist. Attacks on
 * the agent link: gateway/intruders.test.ts.
 */
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { publicBodyLimitBytes } from '../../../src/coordinator/http/body.js'
import { basic } from '../../support/http-call.js'
import { administrator, startController } from '../../support/start-controller.js'
import type { Controller } from '../../support/start-controller.js'
import { parallel } from '../../support/parallel.js'
import { eventually } from '../../support/eventually.js'
import { openLine } from './line.js'

const login = '/api/v1/auth/login'
const head = `POST ${login} HTTP/1.1\r\nHost: x\r\n`

/** Each test has a listener of its own and mostly waits. */
t.jobs = 5

async function isServing(controller: Controller): Promise<boolean> {
  return (await controller.call('GET', '/healthz')).status === 200
}

void t.test('Network: slowloris', parallel(), async (t) => {
  const controller = await startController(t)
  const { server } = controller.http
  // docs/behaviour.md, Connections: headers are complete within 60 s; checked every 5 s.
  t.equal(server.headersTimeout <= 55_000, true)
  t.equal(server.requestTimeout <= 300_000, true)
  server.headersTimeout = 2000
  server.requestTimeout = 2000
  const json = 'Content-Type: application/json\r\n'
  const slow = await Promise.all(
    ['', 'PO', head, `${head}X-Drip: 1\r\n`, `${head}${json}Content-Length: 9\r\n\r\n{"a`].map(
      (text) => openLine(t, controller, { text }),
    ),
  )
  const drips = setInterval(() => {
    for (const { socket } of slow.slice(3)) socket.write('x')
  }, 50)
  t.teardown(() => {
    clearInterval(drips)
  })

  t.ok(await isServing(controller), 'other calls are served meanwhile')
  for (const { socket, heard } of slow) {
    await eventually('the slow caller is cut off', () => socket.closed)
    t.match(heard(), /^$|^HTTP\/1\.1 4\d\d /)
  }
  t.ok(slow.some(({ heard }) => heard().startsWith('HTTP/1.1 408 ')))
  t.ok(await isServing(controller))
})

void t.test('Network: header bombs', parallel(), async (t) => {
  const controller = await startController(t)
  const bombs: Readonly<Record<string, string>> = {
    'one of 1 MB': `X: ${'x'.repeat(1 << 20)}`,
    'one whose end does not come': `X: ${'x'.repeat(1 << 20)}`.slice(0, -1),
    'ten thousand': Array.from({ length: 10_000 }, (_, index) => `x-${index}: 1`).join('\r\n'),
    'one name ten thousand times': 'Cookie: a=b\r\n'.repeat(10_000).trim(),
    'one line that is folded': `X: a${'\r\n b'.repeat(10_000)}`,
    'a path of 1 MB': '',
  }
  for (const [name, headers] of Object.entries(bombs)) {
    const path = headers === '' ? `/${'x'.repeat(1 << 20)}` : login
    const text = `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`
    const line = await openLine(t, controller, { text })
    await eventually(`${name}: the line is cut`, () => line.socket.closed)
    t.match(line.heard(), /^$|^HTTP\/1\.1 4(?:31|00) /, name)
  }
  t.ok(await isServing(controller))
})

void t.test('Network: gzip bombs', parallel(), async (t) => {
  const controller = await startController(t)
  const bomb = gzipSync(Buffer.alloc(10 << 20, 0x20))
  for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip', 'identity, gzip', 'GZIP']) {
    const answer = await fetch(controller.base + login, {
      method: 'POST',
      body: bomb,
      headers: {
        authorization: basic(administrator.user, administrator.password),
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
    })
    t.equal(answer.status, 415, encoding)
    t.match(await answer.json(), { errorKey: 'body', errorMsg: /compressed/ }, encoding)
  }
  const text = `${head}Content-Type: application/json\r\nTransfer-Encoding: gzip\r\n\r\n`
  const line = await openLine(t, controller, { text })
  line.socket.end(bomb)
  await eventually('the connection is closed', () => line.socket.closed)
  t.match(line.heard(), /^$|^HTTP\/1\.1 4\d\d /)
  t.ok(await isServing(controller))
})

void t.test('Network: many idle sockets', parallel(), async (t) => {
  const controller = await startController(t, { http: { connectionLimit: 20 } })
  const lines = await Promise.all(Array.from({ length: 60 }, () => openLine(t, controller)))

  const alive = await eventually('connections over the limit are closed', () => {
    const left = lines.filter(({ socket }) => !socket.closed)
    return left.length <= 20 ? left : null
  })

  for (const { socket } of alive) socket.destroy()
  await eventually('there is room again', () => isServing(controller).catch(() => false))
})

void t.test('Network: oversize before auth', parallel(), async (t) => {
  const controller = await startController(t)
  const large = publicBodyLimitBytes + 1
  const paths: Readonly<Record<string, string>> = {
    [login]: '413 body',
    '/api/v1/auth/refresh': '413 body',
    '/api/v1/auth/oidc/token': '413 body',
    '/api/v1/files': '401 auth',
    '/api/v1/no/such/path': '401 auth',
  }
  // In parallel: each answer waits for the rest of a body that does not come (src/coordinator/http/body.ts).
  await Promise.all(
    Object.entries(paths).map(async ([path, told]) => {
      const announced = post(controller, path, { 'content-length': large })
      const unsaid = post(controller, path, {}, large)
      t.equal(await announced, told, `${path} announces it`)
      t.equal(await unsaid, told, `${path} does not say`)
    }),
  )
  const wrong = await controller.call('POST', login, {
    headers: { authorization: basic(administrator.user, 'not the right one') },
    body: { org: 'x'.repeat(publicBodyLimitBytes - 100) },
  })
  t.equal(wrong.status, 401, 'a body just under the limit is read')
})

/** Returns the status and key of the answer. Without `sizeBytes` only the headers are sent, else also that much of a chunked body. */
function post(
  { base }: Controller,
  path: string,
  headers: Readonly<Record<string, number>>,
  sizeBytes = 0,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(base + path, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.once('error', reject)
    sent.once('response', (answer) => {
      let text = ''
      sent.off('error', reject).on('error', () => undefined)
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.once('end', () => {
        const { errorKey } = JSON.parse(text) as { errorKey: string }
        resolve(`${String(answer.statusCode)} ${errorKey}`)
        sent.destroy()
      })
    })
    if (sizeBytes > 0) sent.write('x'.repeat(sizeBytes))
    else sent.flushHeaders()
  })
}
