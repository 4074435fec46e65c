/** How an answer differs from a test's expectations. */
import fc from 'fast-check'
import t from 'tap'
import { judgeAnswer, type Observed } from '../../src/vcl-tests/judge-answer.js'
import { matchesText } from '../../src/vcl-tests/match-text.js'
import { parseAnswer } from '../../src/vcl-tests/send-request.js'
import type { AnswerExpectation } from '../../src/test-files/test-file.js'

const nothing: AnswerExpectation = {
  status: null,
  headers: [],
  body: null,
  handling: null,
  backendRequest: null,
}
const observed: Observed = {
  status: 503,
  body: 'Guru',
  handling: 'miss',
  backend: 'api',
  headers: [
    ['X-Cache', 'MISS'],
    ['Set-Cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ],
  backendRequest: { url: '/v1/a', headers: [['Host', 'api.example']] },
}

void t.test('only expected properties are compared', (t) => {
  t.same(judgeAnswer(nothing, observed), [])
  t.end()
})

void t.test('a difference lists expected and actual values', (t) => {
  const judge = (expect: Partial<AnswerExpectation>) =>
    judgeAnswer({ ...nothing, ...expect }, observed)
  t.same(judge({ status: 200 }), ['expected status 200, got 503'])
  t.same(judge({ handling: 'hit', backend: null }), [
    'expected handling hit, got miss',
    'expected backend none, got api',
  ])
  t.same(judge({ headers: [['x-cache', { kind: 'equals', text: 'HIT' }]] }), [
    'expected header x-cache "HIT", got "MISS"',
  ])
  t.same(judge({ headers: [['Set-Cookie', { kind: 'absent' }]] }), [
    'expected header Set-Cookie not to be there, got "a=1, b=2"',
  ])
  t.same(judge({ body: { kind: 'contains', text: 'hello' } }), [
    'expected body to contain "hello", got "Guru"',
  ])
  const backendRequest = { url: { kind: 'matches', text: '^/v2/' } as const, headers: [] }
  t.same(judge({ backendRequest }), ['expected url at the backend to match /^/v2//, got "/v1/a"'])
  t.same(judgeAnswer({ ...nothing, backendRequest }, { ...observed, backendRequest: null }), [
    'expected a request to a backend, got none',
  ])
  t.end()
})

void t.test('a regular expression that would run forever does not match', (t) => {
  t.equal(matchesText({ kind: 'matches', text: '(a+)+$' }, `${'a'.repeat(60)}b`), false)
  t.equal(matchesText({ kind: 'matches', text: '(a+)+$' }, 'aaa'), true, 'the next one works')
  t.end()
})

void t.test('an answer is parsed the same in any chunks', (t) => {
  const chunked = Buffer.from(
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n',
  )
  const sized = Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc')
  for (const [bytes, status, body] of [
    [chunked, 200, 'hello!'],
    [sized, 404, 'abc'],
  ] as const)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), (at) => {
        const whole = parseAnswer(bytes, 'GET', false)
        const isWhole = whole?.status === status && whole.body === body
        return isWhole && parseAnswer(bytes.subarray(0, at), 'GET', false) === null
      }),
    )
  t.equal(parseAnswer(sized, 'HEAD', false)?.body, '')
  t.equal(parseAnswer(Buffer.from('HTTP/1.0 200 OK\r\n\r\nab'), 'GET', false), null)
  t.equal(parseAnswer(Buffer.from('HTTP/1.0 200 OK\r\n\r\nab'), 'GET', true)?.body, 'ab')
  t.end()
})
