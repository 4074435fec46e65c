/** Conventions of every API call, tested from outside: the order of checks, paths, trace ids, answers. */
import { connect } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { errorOf, sendTo, type Sending } from './send.js'
import { startThings, type ThingsServer } from './things.js'

const api = '/api/v1'
let s: ThingsServer
const send = sendTo(() => s)
t.before(async () => {
  s = await startThings()
})
t.teardown(() => s.http.close())

void t.test(
  'checks run in order: 401, path and method, 403 of the type, 404 of the object, 415, body',
  async (t) => {
    const broken = { body: '{', type: 'text/plain' }
    const cases: readonly [string, string, Sending, number, string][] = [
      ['PATCH', '/things', { token: null, ...broken }, 401, 'auth'],
      ['POST', '/things', { token: null, ...broken }, 401, 'auth'],
      ['PUT', '/things/99', { token: null, ...broken }, 401, 'auth'],
      ['GET', '/nothing', { token: null }, 401, 'auth'],
      ['GET', '/', { token: null }, 401, 'auth'],
      ['GET', '', { token: null }, 401, 'auth'],
      ['PATCH', '/things', { token: 'stranger', ...broken }, 405, 'method'],
      ['POST', '/things/99', { token: 'stranger', ...broken }, 405, 'method'],
      ['DELETE', '/things', { token: 'stranger' }, 405, 'method'],
      ['GET', '/things/99/go', { token: 'stranger' }, 405, 'method'],
      ['GET', '/nothing', { token: 'stranger' }, 404, 'path'],
      ['GET', '/things/', { token: 'stranger' }, 403, 'tag'],
      ['GET', '/things', { token: 'stranger' }, 403, 'tag'],
      ['GET', '/things?nope=1', { token: 'stranger' }, 403, 'tag'],
      ['POST', '/things', { token: 'reader', ...broken }, 403, 'tag'],
      ['PUT', '/things/99', { token: 'reader', ...broken }, 403, 'tag'],
      ['PUT', '/things/99', broken, 404, 'tag'],
      ['PUT', '/things/99', { body: '{"bogus":1}' }, 404, 'tag'],
      ['PUT', '/things/99/go', {}, 404, 'deploy'],
      ['POST', '/things', broken, 415, 'body'],
      ['POST', '/things', { body: '{' }, 400, 'body'],
      ['POST', '/things', { body: '{"name":"taken","bogus":1}' }, 400, 'tag'],
      ['POST', '/things', { body: '{"name":"taken"}' }, 409, 'tag'],
    ]
    for (const [method, path, sending, status, key] of cases) {
      const sent = await send(method, api + path, sending)
      t.equal(errorOf(sent), `${status} ${key}`, `${method} ${path} ${JSON.stringify(sending)}`)
    }
  },
)

void t.test('a reader can read; public calls need no token', async (t) => {
  t.equal((await send('GET', `${api}/things/2`, { token: 'reader' })).status, 200)
  const open = await send('POST', `${api}/open`, { token: null })
  t.same(open.body, { account: '' })
  t.same((await send('POST', `${api}/open`, { token: null, body: '{"ORG":"x"}' })).body, {
    body: { org: 'x' },
    account: '',
  })
  const method = await send('GET', `${api}/open`, { token: null })
  t.equal(method.status, 405)
  t.equal(method.headers.get('allow'), 'POST')
})

void t.test('405 lists the methods of the path, for every method that HTTP knows', async (t) => {
  for (const method of ['PATCH', 'OPTIONS', 'PROPFIND', 'LOCK', 'DELETE']) {
    const sent = await send(method, `${api}/things`)
    t.equal(errorOf(sent), '405 method', method)
    t.equal(sent.headers.get('allow'), 'GET, HEAD, POST')
  }
  const sent = await send('POST', `${api}/things/1`)
  t.equal(sent.headers.get('allow'), 'GET, HEAD, PUT, DELETE')
})

void t.test('an unknown path is 404 with both errorMsg and message', async (t) => {
  for (const path of [
    `${api}/nothing`,
    `${api}/`,
    `${api}/things/1/nothing`,
    '/',
    '/api',
    '/api/v2/things',
    '/pages',
  ]) {
    const sent = await send('GET', path)
    t.equal(errorOf(sent), '404 path', path)
    t.equal(typeof sent.body['message'], 'string', path)
  }
})

void t.test('invalid ids are 404, never another object', async (t) => {
  const ids = [
    'abc',
    '01',
    '1abc',
    '1.0',
    '0x1',
    '+1',
    '-1',
    '0',
    '%201',
    '1%20',
    '1%00',
    '1e3',
    '99999999999999999999',
    '9007199254740993',
    'null',
    '%2e%2e%2f',
    '1;x',
    '1%2F..%2F1',
    '%ZZ',
    '%FF',
    'x'.repeat(9000),
  ]
  for (const id of ids) {
    const sent = await send('GET', `${api}/things/${id}`)
    t.equal(sent.status, 404, id.slice(0, 30))
    t.equal(typeof sent.body['traceId'], 'string', id.slice(0, 30))
  }
  t.equal((await send('GET', `${api}/things/99`)).body['errorMsg'], '99 was not found')
  t.same((await send('GET', `${api}/things/1/parts/a%2Fb`)).body['params'], { part: 'a/b' })
})

void t.test(
  'a valid trace id of the caller is used, an invalid one replaced; every answer has one',
  async (t) => {
    for (const id of ['a'.repeat(8), 'A-b_9'.repeat(12), 'z'.repeat(64)])
      t.equal(
        (await send('GET', `${api}/things`, { headers: { 'x-trace-id': id } })).headers.get(
          'x-trace-id',
        ),
        id,
      )
    for (const id of [
      'x'.repeat(7),
      'x'.repeat(65),
      'x'.repeat(5000),
      'a b c d e f',
      '"},{"level":60',
      '../../xxxx',
      'a.b.c.d.e',
      '',
    ]) {
      const sent = await send('GET', `${api}/nothing`, { headers: { 'x-trace-id': id } })
      t.match(sent.headers.get('x-trace-id'), /^[0-9a-f]{32}$/)
    }
    const [one, two] = [await send('GET', '/page'), await send('GET', '/page')]
    t.not(one.headers.get('x-trace-id'), two.headers.get('x-trace-id'))
  },
)

void t.test('every call logs one line with its trace id and without its query', async (t) => {
  const traceId = 'one-line-for-this'
  await send('GET', `${api}/things?many=2&name=secret`, { headers: { 'x-trace-id': traceId } })
  const line = await eventually('the log line', () => s.lines.find((l) => l['traceId'] === traceId))

  t.match(line, {
    level: 30,
    method: 'GET',
    path: `${api}/things`,
    status: 200,
    account: 'boss',
    msg: 'request',
  })
  t.equal(typeof line['durationMs'], 'number')
  t.notOk(JSON.stringify(line).includes('secret'))
  t.equal(s.lines.filter((l) => l['traceId'] === traceId).length, 1)
})

void t.test('a bug is logged in full and hidden from the caller', async (t) => {
  const sent = await send('POST', `${api}/things`, { body: '{"name":"bug"}' })

  t.equal(errorOf(sent), '500 tag', 'bug')
  t.equal(sent.body['errorMsg'], 'internal error')
  const line = s.lines.find((l) => l['level'] === 50 && l['traceId'] === sent.body['traceId'])
  t.match(line?.['err'], { message: 'secret detail', stack: /at / })
})

void t.test('a rate limit gives the wait in whole seconds', async (t) => {
  const sent = await send('POST', `${api}/things`, { body: '{"name":"slow down"}' })
  t.equal(errorOf(sent), '429 auth', 'limited')
  t.equal(sent.headers.get('retry-after'), '13')
})

void t.test('answers carry the security headers and no CORS headers', async (t) => {
  for (const [method, path] of [
    ['GET', `${api}/things`],
    ['GET', `${api}/nope`],
    ['OPTIONS', `${api}/things`],
    ['GET', '/page'],
  ] as const) {
    const { headers } = await send(method, path, {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('access-control-allow-origin'), null)
    t.equal(headers.get('x-powered-by'), null)
  }
  const page = await send('GET', '/page')
  t.equal(page.text, '<p>page</p>')
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
})

void t.test('HEAD answers like GET without the body', async (t) => {
  for (const path of ['/things', '/things?many=5000', '/things/1']) {
    const sent = await send('HEAD', api + path)
    t.equal(sent.status, 200, path)
    t.equal(sent.text, '', path)
  }
  t.equal((await send('HEAD', `${api}/things?many=5000`)).headers.get('x-total-count'), '5000')
  t.equal((await send('HEAD', `${api}/things/99`)).status, 404)
})

void t.test('a list of 10,000 is streamed, complete and valid', async (t) => {
  const sent = await send('GET', `${api}/things?many=10000`)
  const list = JSON.parse(sent.text) as { id: number }[]
  t.equal(list.length, 10_000)
  t.ok(list.every(({ id }, i) => id === i + 1))
  t.equal(sent.headers.get('x-total-count'), '10000')
  for (const many of [0, 1, 100, 101])
    t.equal((JSON.parse((await send('GET', `${api}/things?many=${many}`)).text) as []).length, many)
})

void t.test('a list that fails midway breaks the connection and is logged', async (t) => {
  await t.rejects(send('GET', `${api}/broken-list`))
  await eventually('the log line', () =>
    s.lines.find((l) => l['level'] === 50 && String(l['msg']).includes('broke off')),
  )
})

void t.test('invalid HTTP gets the same error body', async (t) => {
  const answers = [
    await sendRaw('NONSENSE\r\n\r\n'),
    await sendRaw(`GET ${api}/things HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`),
  ]
  t.match(answers[0], /^HTTP\/1\.1 400 .*"errorKey":"body"/s)
  t.match(answers[1], /^HTTP\/1\.1 431 .*"errorKey":"body"/s)
})

void t.test('the answer to a following call does not overtake the one in progress', async (t) => {
  // A body without a length is parsed as the beginning of the next call.
  const call = `DELETE ${api}/things HTTP/1.1\r\nhost: x\r\nauthorization: Bearer boss\r\n\r\n{`
  t.match(await sendRaw(call), /^HTTP\/1\.1 405 .*"errorKey":"method".*HTTP\/1\.1 400 /s)
})

void t.test(
  'a refused body does not close the connection; a Content-Type without a body is ignored',
  async (t) => {
    const head = 'HTTP/1.1\r\nhost: x\r\nauthorization: Bearer boss\r\n'
    const json = 'content-type: application/json\r\ncontent-length: '
    const calls = [
      `POST ${api}/things ${head}${json}1\r\n\r\n{`,
      `POST ${api}/open ${head}${json}70000\r\n\r\n${'x'.repeat(70_000)}`,
      `DELETE ${api}/things/1 ${head}content-type: nonsense\r\nconnection: close\r\n\r\n`,
    ]
    const answers = await sendRaw(calls.join(''))
    t.same(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 413', 'HTTP/1.1 204'])
  },
)

function sendRaw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(s.base).port), '127.0.0.1')
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('close', () => {
      resolve(text)
    })
    socket.on('error', reject)
    socket.write(bytes)
  })
}

void t.test('a raw handler writes its own answer, for its method only', async (t) => {
  t.equal((await send('GET', '/raw/a%20b')).text, 'raw a b')
  t.equal((await send('PUT', '/raw/a')).status, 404)
})

void t.test('onAnswered is called once for each call', async (t) => {
  const traceId = 'told-once-only'
  await send('PUT', `${api}/things/3`, { body: '{"name":"x"}', headers: { 'x-trace-id': traceId } })
  await eventually('called', () => s.answered.some((call) => call.context.traceId === traceId))
  const told = s.answered.filter((call) => call.context.traceId === traceId)
  t.equal(told.length, 1)
  t.match(told[0], {
    method: 'PUT',
    path: `${api}/things/3`,
    status: 200,
    objectId: 3,
    route: { operationId: 'changeThing' },
    actor: { accountName: 'boss' },
  })
})
