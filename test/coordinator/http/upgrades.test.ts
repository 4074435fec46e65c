/** Upgrade requests, CONNECT and Expect, and calls that are not valid HTTP/1.1. */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { openLine, type Line } from './line.js'
import { startThings, type ThingsServer } from './things.js'

const offer =
  'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
const caller = 'Host: x\r\nAuthorization: Bearer boss\r\n'
let s: ThingsServer
t.before(async () => {
  s = await startThings()
  s.http.onUpgrade((_request, socket) => socket.end('HTTP/1.1 101 taken\r\n\r\n'))
})
t.teardown(() => s.http.close())

async function hear(line: Line): Promise<string> {
  await eventually('it is closed', () => line.socket.closed || line.socket.readableEnded)
  return line.heard()
}

void t.test('a call that offers HTTP/2 is served over HTTP/1.1', async (t) => {
  const read = `GET /api/v1/things HTTP/1.1\r\n${caller}${offer}\r\n`
  t.match(await hear(await openLine(t, s, { text: read })), /^HTTP\/1\.1 200 OK\r\n.*\[\{"id":1/s)

  const text = JSON.stringify({ name: 'x', labels: { a: randomBytes(100_000).toString('hex') } })
  const type = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
  const head = `POST /api/v1/things HTTP/1.1\r\n${caller}${type}${offer}\r\n`
  const line = await openLine(t, s, { text: head + text.slice(0, 70_000) })
  line.socket.write(text.slice(70_000))
  t.match(await hear(line), /^HTTP\/1\.1 201 Created\r\n/)
  const digest = (value: unknown) =>
    createHash('sha256').update(JSON.stringify(value)).digest('hex')
  t.equal(digest(s.bodies.at(-1)), createHash('sha256').update(text).digest('hex'), 'complete body')

  const both = `${read.replace(', close', '')}${read}`
  const twice = await hear(await openLine(t, s, { text: both }))
  t.equal(twice.match(/HTTP\/1\.1 200 OK/g)?.length, 2, 'the following call is served too')
})

void t.test('a real client (curl) that offers HTTP/2 is answered', async (t) => {
  const curl = (...args: string[]) => promisify(execFile)('curl', ['--noproxy', '*', '-s', ...args])
  const { stdout: version } = await curl('--version')
  if (!/^Features:.* HTTP2\b/m.test(version)) {
    t.pass('this curl has no HTTP/2')
    return
  }
  const headers = ['-H', 'Authorization: Bearer boss', '-H', 'Content-Type: application/json']
  const post = [...headers, '-d', '{"name":"x"}', `${s.base}/api/v1/things`]
  t.equal(
    (await curl('--http2', '-w', ' %{http_version}', `${s.base}/page`)).stdout,
    '<p>page</p> 1.1',
  )
  t.equal((await curl('--http2', ...post)).stdout, '{"id":4,"name":"x"}')
})

void t.test('repeated HTTP/2 offers leave no listeners on the connection', async (t) => {
  const sockets = new Set<Socket>()
  const note = (socket: Socket) => sockets.add(socket)
  s.http.server.on('connection', note)
  const read = `GET /page HTTP/1.1\r\n${caller}${offer.replace(', close', '')}\r\n`
  const line = await openLine(t, s)
  const counts: number[] = []
  for (let calls = 1; calls <= 20; calls++) {
    line.socket.write(read)
    await eventually('the call is answered', () => line.heard().split('<p>page</p>').length > calls)
    const [socket] = sockets
    counts.push(
      (socket?.eventNames() ?? []).reduce(
        (sum, name) => sum + (socket?.listenerCount(name) ?? 0),
        0,
      ),
    )
  }
  s.http.server.off('connection', note)
  t.equal(sockets.size, 1, 'one connection')
  t.equal(counts.at(-1), counts[0], `listeners: ${counts.join(', ')}`)
})

void t.test(
  'a caller that sends an offer behind a running call and disconnects does no harm',
  async (t) => {
    const long = `GET /api/v1/things?many=20000 HTTP/1.1\r\n${caller}\r\n`
    const behind = `GET /api/v1/things HTTP/1.1\r\n${caller}${offer}\r\n`
    for (let count = 0; count < 5; count++) {
      const line = await openLine(t, s, { text: long + behind })
      await eventually('the answer has begun', () => line.heard() !== '')
      line.socket.resetAndDestroy()
    }
    const after = await openLine(t, s, { text: behind })
    t.match(await hear(after), /^HTTP\/1\.1 200 /)
  },
)

void t.test('WebSocket upgrades are accepted', async (t) => {
  const text = `GET /x HTTP/1.1\r\n${caller}Connection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n`
  t.match(await hear(await openLine(t, s, { text })), /^HTTP\/1\.1 101 taken/)
})

void t.test('a call without a Host header is refused with the usual error body', async (t) => {
  const text = 'GET /api/v1/things HTTP/1.1\r\nAuthorization: Bearer boss\r\n\r\n'
  t.match(await hear(await openLine(t, s, { text })), /^HTTP\/1\.1 400 .*"errorKey":"body".*Host/s)
  const old = await openLine(t, s, { text: text.replace('1.1', '1.0') })
  t.match(await hear(old), /^HTTP\/1\.1 200 /, 'HTTP/1.0 needs none')
})

void t.test('CONNECT is refused; an unknown expectation is ignored', async (t) => {
  const tunnel = await openLine(t, s, {
    text: 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  })
  t.match(await hear(tunnel), /^HTTP\/1\.1 405 .*Allow: GET.*"errorKey":"method"/s)
  const text = `GET /api/v1/things HTTP/1.1\r\n${caller}Expect: the-best\r\nConnection: close\r\n\r\n`
  t.match(await hear(await openLine(t, s, { text })), /^HTTP\/1\.1 200 /)
})
