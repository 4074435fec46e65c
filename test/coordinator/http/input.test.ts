/** Bodies, keys and parameters that callers send, tested from outside. */
import { request, type OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import type { CallAnswer } from '../../support/http-call.js'
import { errorOf, sendTo } from './send.js'
import { startThings, type ThingsServer } from './things.js'

const api = '/api/v1'
let s: ThingsServer
const send = sendTo(() => s)
t.before(async () => {
  s = await startThings()
})
t.teardown(() => s.http.close())

void t.test('a body that is not a JSON object is 400 with the key body', async (t) => {
  const bodies = [
    '{',
    '{"name":',
    '{"name":"x",}',
    "{'name':'x'}",
    'name=x',
    '[]',
    '"x"',
    '1',
    'null',
    '',
    '[{}]',
    '\ufeff{}',
    '{"name":"x"}{',
    Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  ]
  for (const body of bodies)
    t.equal(errorOf(await send('POST', `${api}/things`, { body })), '400 body', String(body))
  const secret = await send('POST', `${api}/things`, { body: '{"password":"hunter2"' })
  t.notOk(secret.text.includes('hunter2'), 'the body is not quoted')
})

void t.test('a body needs a JSON content type; a call without a body needs none', async (t) => {
  const body = '{"name":"x"}'
  for (const type of [
    'text/plain',
    'application/xml',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
    null,
  ])
    t.equal(errorOf(await send('POST', `${api}/things`, { body, type })), '415 body', String(type))
  for (const type of [
    'application/json',
    'Application/JSON; Charset="UTF-8"',
    'application/json;charset=utf-8',
  ])
    t.equal((await send('POST', `${api}/things`, { body, type })).status, 201, type)
  for (const headers of [
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'nonsense' },
  ] as Record<string, string>[]) {
    t.equal((await send('PUT', `${api}/things/1/go`, { headers })).status, 200)
    t.equal((await send('DELETE', `${api}/things/1`, { headers })).status, 204)
    t.equal((await send('GET', `${api}/things/1`, { headers })).status, 200)
    t.equal(errorOf(await send('POST', `${api}/things`, { headers })), '400 body', 'required')
  }
  const gzipped = { body: gzipSync(body), headers: { 'content-encoding': 'gzip' } }
  t.equal(errorOf(await send('POST', `${api}/things`, gzipped)), '415 body', 'gzip')
  t.equal(
    errorOf(await send('PUT', `${api}/things/1/go`, { body })),
    '400 deploy',
    'the route takes no body',
  )
  t.equal((await send('PUT', `${api}/things/1/go`, { body: '{}' })).status, 200)
})

void t.test(
  'nesting deeper than 64 is refused before parsing; brackets inside strings do not count',
  async (t) => {
    for (const depth of [65, 200_000])
      t.equal(
        errorOf(
          await send('POST', `${api}/things`, {
            body: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
          }),
        ),
        '400 body',
        String(depth),
      )
    t.equal(
      errorOf(
        await send('POST', `${api}/things`, { body: `{"a":${'['.repeat(64)}${']'.repeat(64)}}` }),
      ),
      '400 body',
      'arrays',
    )
    const fits = await send('POST', `${api}/things`, {
      body: `{"a":${'['.repeat(63)}${']'.repeat(63)}}`,
    })
    t.equal(errorOf(fits), '400 tag', 'refused for its unknown key, not its depth')
    const text = JSON.stringify({ name: '[{"\\'.repeat(40) })
    t.equal((await send('POST', `${api}/things`, { body: text })).status, 201)
  },
)

void t.test('a body with too many members is refused before it is parsed', async (t) => {
  const members = (count: number) => Array.from({ length: count }, () => '0').join(',')
  for (const body of [`{"labels":[${members(100_002)}]}`, `[${members(2_000_000)}]`]) {
    const sent = await send('POST', `${api}/things`, { body })
    t.equal(errorOf(sent), '400 body')
    t.match(sent.body['errorMsg'], /has over 100000 members/)
  }
  const text = JSON.stringify({ name: 'x', labels: { a: ','.repeat(200_000) } })
  t.equal((await send('POST', `${api}/things`, { body: text })).status, 201, 'commas in strings')
})

void t.test('over 10 MiB is 413 with or without a length; just under is accepted', async (t) => {
  const limit = 10 * 1024 * 1024
  const big = `{"name":"${'a'.repeat(limit)}"}`
  t.equal(errorOf(await send('POST', `${api}/things`, { body: big })), '413 body', 'length')
  t.equal(await sendChunks(big), 413)
  for (let round = 0; round < 5; round++)
    t.equal(await sendChunks(big, { 'content-length': big.length }), 413, 'before it is all sent')
  const labels = `{"name":"x","labels":{"a":"${'b'.repeat(limit - 100)}"}}`
  t.equal((await send('POST', `${api}/things`, { body: labels })).status, 201)
  t.equal(
    errorOf(await send('PUT', `${api}/things/99`, { body: big })),
    '404 tag',
    'the object is checked first',
  )
})

/** Sends the body in pieces on a connection that ends with the answer; chunked unless a length is given. Returns the status. */
function sendChunks(body: string, more: OutgoingHttpHeaders = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json', ...more }
    const call = request(`${s.base}${api}/things`, { method: 'POST', headers, agent: false })
    call.on('error', reject)
    call.on('response', (answer) => {
      answer.resume().on('end', () => {
        resolve(answer.statusCode ?? 0)
      })
    })
    for (let at = 0; at < body.length; at += 1 << 20) call.write(body.slice(at, at + (1 << 20)))
    call.end()
  })
}

void t.test(
  "keys are matched case-insensitively at every level and passed on in the schema's spelling",
  async (t) => {
    const spellings = [
      '{"name":"a","mainVCL":{"id":1},"tags":[{"id":2}]}',
      '{"NAME":"a","MainVcl":{"ID":1},"TAGS":[{"Id":2,"NAME":"x"}]}',
    ]
    for (const body of spellings)
      t.equal((await send('POST', `${api}/things`, { body })).status, 201)
    t.match(s.bodies.at(-1), { name: 'a', mainVCL: { id: 1 }, tags: [{ id: 2, name: 'x' }] })
    t.equal(
      (await send('POST', `${api}/things`, { body: '{"name":"a","labels":{"Aa":"1","aA":"2"}}' }))
        .status,
      201,
    )
    t.same((s.bodies.at(-1) as { labels: unknown }).labels, { Aa: '1', aA: '2' })
  },
)

void t.test('a body that violates the schema is 400 and its key is named', async (t) => {
  const cases: readonly [string, string][] = [
    ['{}', 'name'],
    ['{"name":""}', 'name'],
    ['{"name":5}', 'name'],
    ['{"name":null}', 'name'],
    ['{"name":{}}', 'name'],
    [`{"name":"${'n'.repeat(256)}"}`, 'name'],
    ['{"name":"a","Name":"b"}', 'name'],
    ['{"NAME":"a","name":"a"}', 'name'],
    ['{"name":"a","bogusKey":1}', 'bogusKey'],
    ['{"name":"a","count":0}', 'count'],
    ['{"name":"a","count":1.5}', 'count'],
    ['{"name":"a","count":"1"}', 'count'],
    ['{"name":"a","count":1e30}', 'count'],
    ['{"name":"a","tags":5}', 'tags'],
    ['{"name":"a","tags":[5]}', 'tags[0]'],
    ['{"name":"a","tags":[{"id":1},{"id":-1}]}', 'tags[1].id'],
    ['{"name":"a","tags":[{"id":1,"ID":1}]}', 'tags[0].id'],
    ['{"name":"a","tags":[{"idd":1}]}', 'tags[0].idd'],
    ['{"name":"a","mainVCL":{}}', 'mainVCL.id'],
    ['{"name":"a","mainVCL":null}', 'mainVCL'],
    ['{"name":"a\\ud800"}', 'name'],
    ['{"name":"a\\u0000"}', 'name'],
    ['{"name":"a","labels":{"b":"\\ud800"}}', 'labels.b'],
    ['{"name":"a","__proto__":{"polluted":1}}', '__proto__'],
    ['{"name":"a","\\u005f_proto__":{"polluted":1}}', '__proto__'],
    ['{"name":"a","constructor":{"prototype":{}}}', 'constructor'],
    ['{"name":"a","labels":{"__proto__":"x"}}', 'labels.__proto__'],
    ['{"__proto__":{"name":"a"}}', '__proto__'],
  ]
  for (const [body, key] of cases) {
    const sent = await send('POST', `${api}/things`, { body })
    t.equal(errorOf(sent), '400 tag', body.slice(0, 60))
    t.ok(String(sent.body['errorMsg']).startsWith(`${key} `), `${key}: ${sent.text}`)
  }
  t.equal(
    (await send('POST', `${api}/things`, { body: '{"name":"a","count":null,"tags":null}' })).status,
    201,
  )
  t.equal(Reflect.get({}, 'polluted'), undefined)
})

void t.test('read-only keys are dropped; a different id is refused', async (t) => {
  const put = (body: string): Promise<CallAnswer> => send('PUT', `${api}/things/2`, { body })
  t.equal((await put('{"ID":2,"Created":"1999","name":"x"}')).status, 200)
  t.same(s.bodies.at(-1), { name: 'x' })
  for (const body of ['{"id":3}', '{"id":"2"}', '{"iD":null}']) {
    const sent = await put(body)
    t.equal(errorOf(sent), '400 tag', body)
    t.match(sent.body['errorMsg'], /^id /)
  }
  t.equal(errorOf(await put('{"id":2,"ID":2}')), '400 tag', 'the id is given twice')
  t.equal((await send('POST', `${api}/things`, { body: '{"id":77,"name":"x"}' })).status, 201)
})

void t.test('parameters are validated by their schema; each may be given once', async (t) => {
  const go = (query: string): Promise<CallAnswer> => send('PUT', `${api}/things/1/go${query}`)
  t.same((await go('?wait=60s&PERCENT=50&force=true')).body, {
    wait: '60s',
    percent: 50,
    force: true,
  })
  t.same((await go('?')).body, {})
  const bad: readonly [string, string][] = [
    ['?nope=1', 'nope'],
    ['?__proto__=1', '__proto__'],
    ['?constructor.name=1', 'constructor.name'],
    ['?name%5B$ne%5D=1', 'name'],
    ['?wait=x', 'wait'],
    ['?wait=1&wait=1', 'wait'],
    ['?wait=1&WAIT=1', 'WAIT'],
    ['?percent=101', 'percent'],
    ['?percent=5.5', 'percent'],
    ['?percent=', 'percent'],
    ['?force=yes', 'force'],
    ['?wait=1%00', 'wait'],
  ]
  for (const [query, key] of bad) {
    const sent = await go(query)
    t.equal(errorOf(sent), '400 deploy', query)
    t.ok(String(sent.body['errorMsg']).includes(key), sent.text)
  }
  t.equal(errorOf(await send('GET', `${api}/things/1?x=1`)), '400 tag', 'it takes no parameters')
})

void t.test(
  'a caller that disconnects in the middle of its body leaves nothing behind',
  async (t) => {
    const { port } = new URL(s.base)
    const before = s.answered.length
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST ${api}/things HTTP/1.1\r\nhost: x\r\nauthorization: Bearer boss\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"name"`,
    )
    socket.end()

    // Earlier calls may be recorded late.
    await eventually('the call ended', () =>
      s.answered.slice(before).some(({ status }) => status === 400),
    )
    t.equal((await send('GET', `${api}/things`)).status, 200)
  },
)
