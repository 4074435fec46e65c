/** The CLI with a bad network, hostile responses, and readers that go away. */
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { callHttp } from '../../src/cli/http-call.js'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { root } from '../support/root.js'
import { administrator, startController } from '../support/start-controller.js'
import { startFixture } from './fixture.js'
import { call, endOf, makeHome, startClient, type Environment } from './run-cli.js'

const fixtures = join(root, 'test/fixtures/tls')
const { user, password } = administrator
const input = `${password}\n`

void t.test('an untrusted certificate is reported with a remedy', async (t) => {
  const tls = { certFile: join(fixtures, 'one.crt'), keyFile: join(fixtures, 'one.key') }
  const controller = await startController(t, { resources: resourceRoutes, http: { tls } })
  const environment = await makeHome(t)
  const words = ['login', '--server', controller.base, '--user', user, '--password-stdin']

  const refused = await call(words, { environment, input })
  t.match(refused, { code: exitCodes.refused, out: '' })
  t.match(
    refused.err,
    /^cachefleet: [^\n]+ not trusted; set CACHEFLEET_CA to its CA file, or log in with --fingerprint \(trace \w+\)\n$/,
  )

  const other = { ...environment, CACHEFLEET_CA: join(fixtures, 'two.crt') }
  t.match(await call(words, { environment: other, input }), { code: exitCodes.refused })
  const missing = { ...environment, CACHEFLEET_CA: join(fixtures, 'none.crt') }
  t.match(await call(words, { environment: missing, input }), {
    code: exitCodes.usage,
    err: /CACHEFLEET_CA: .* cannot be read/,
  })
  const trusting = { ...environment, CACHEFLEET_CA: tls.certFile }
  t.match(await call(words, { environment: trusting, input }), { code: 0, err: '' })
  t.match(await call(['tags', 'list'], { environment: trusting }), { code: 0 })
})

void t.test('a call to a silent server times out', async (t) => {
  const base = await startServer(t, () => undefined)
  const exchange = { method: 'GET', url: new URL(base), headers: {}, timeoutMs: 50 }
  await t.rejects(callHttp(exchange), { exitCode: 1, message: /no (answer|connection) within/ })
})

void t.test('a response cut in the middle is reported', async (t) => {
  const environment = await talkTo(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('[{"id":1')
    response.socket?.destroySoon()
  })
  const ran = await call(['tags', 'list'], { environment })
  t.match(ran, {
    code: exitCodes.refused,
    out: '',
    err: /^cachefleet: Cannot reach [^\n]+ \(trace \w{32}\)\n$/,
  })
})

void t.test('the calls of a command share a trace id, which errors contain', async (t) => {
  const sent: unknown[] = []
  const environment = await talkTo(t, ({ method, headers }, response) => {
    sent.push(headers['x-trace-id'])
    response.setHeader('content-type', 'application/json')
    if (method === 'GET') response.end('[{"id":1,"name":"web"}]')
    else response.destroy()
  })
  const cut = await call(['tags', 'delete', 'web', '--yes', '--json'], { environment })
  const [traceId] = sent
  t.match(traceId, /^[0-9a-f]{32}$/)
  t.same(sent, [traceId, traceId])
  t.match(JSON.parse(cut.err), { traceId, errorKey: 'client', errorMsg: /closed before an answer/ })

  const again = await call(['tags', 'delete', 'web', '--yes'], { environment })
  t.not(sent[2], traceId, 'another command has another trace id')
  t.ok(again.err.endsWith(` (trace ${String(sent[2])})\n`), again.err)
  const early = await call(['tags', 'list'], { environment: await makeHome(t) })
  t.match(early, { code: exitCodes.denied })
  t.notMatch(early.err, /trace/, 'before any call there is no trace')
})

void t.test('a malformed response is reported in one line, without a stack', async (t) => {
  let text = ''
  const environment = await talkTo(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(text)
  })
  for (text of ['{}', '[1]', 'null', '""', '{"id":{}}', '[{"id":[]}]', '[[]]', '<html>']) {
    for (const words of [
      ['tags', 'list'],
      ['tags', 'get', '1'],
      ['tags', 'get', 'web'],
      ['vclgroups', 'deploy', '1'],
      ['agents', 'params', '1'],
      ['whoami'],
    ]) {
      const { code, err } = await call(words, { environment })
      if (code !== 0) t.match(err, /^cachefleet: [^\n]+\n$/, `${text} ${words.join(' ')}`)
      t.notMatch(err, /TypeError|undefined|\bat .+:\d+/, `${text} ${words.join(' ')}: ${err}`)
    }
  }
})

void t.test('control characters from the coordinator are escaped on a terminal', async (t) => {
  const evil = '\x1b]0;owned\x07\x9b2J\u202e\r\nx'
  const object = { id: 1, name: evil, organization: { id: 2, name: evil }, [evil]: evil }
  let status = 200
  const environment = await talkTo(t, ({ url = '' }, response) => {
    const error = { traceId: evil, errorKey: 'tag', errorMsg: evil }
    const body = status === 200 ? (/\d$/.test(url) ? object : [object, object]) : error
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  const acting = /[^\P{Cc}\n\t]|[\u202a-\u202e]/u
  for (status of [200, 409])
    for (const words of [
      ['tags', 'list'],
      ['tags', 'get', '1'],
      ['tags', 'get', '1', '--csv'],
      ['tags', 'get', '1', '--json'],
      ['tags', 'delete', 'x', '--yes'],
      ['vclgroups', 'deploy', '1'],
    ]) {
      const quiet = { ...environment, NO_COLOR: '1' }
      const { out, err } = await call(words, { environment: quiet, terminal: true })
      const text = `${out}${err}`.replaceAll('\r\x1b[K', '').replaceAll('\r\n', '\n')
      t.notMatch(text, acting, `${words.join(' ')} ${status}`)
    }
})

void t.test('a reader that goes away ends a long list silently', async (t) => {
  const row = JSON.stringify({ id: 1, name: 'x'.repeat(200), static: false })
  const environment = await talkTo(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`[${Array.from({ length: 5_000 }, () => row).join(',')}]`)
  })
  for (const form of ['--csv', '--json']) {
    const child = startClient(['tags', 'list', form], environment)
    let err = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.stdout?.once('data', () => child.stdout?.destroy())
    t.strictSame([await endOf(child), err], [0, ''], form)
  }
})

void t.test('names for shell completion are limited to safe ones', async (t) => {
  const fixture = await startFixture(t)
  const names = ['web', 'edge-1', '$(id)', '`id`', 'a b', '-x', '*', 'a;b', '\u202e', 'web.vcl']
  for (const name of names) await fixture.api.expect(201, 'POST', '/tags', { name })
  const asked = await fixture.cli(['complete-names', 'tags'])
  t.match(asked, { code: 0, err: '', out: 'web\nedge-1\nweb.vcl\n' })
  for (const noun of ['nosuch', 'contexts', 'permissions'])
    t.match(await fixture.cli(['complete-names', noun]), { code: 0, out: '', err: '' })
  const nowhere = { CACHEFLEET_SERVER: 'http://127.0.0.1:1', CACHEFLEET_TOKEN: 'x' }
  t.match(await call(['complete-names', 'tags'], { environment: nowhere }), {
    code: 0,
    out: '',
    err: '',
  })
})

async function talkTo(t: Test, answer: RequestListener): Promise<Environment> {
  return { CACHEFLEET_SERVER: await startServer(t, answer), CACHEFLEET_TOKEN: 'token' }
}

/** Stops with the test. */
async function startServer(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}
