/** What the log decides without a browser: its query, the place of an error in it, the display of lines. */
import fc from 'fast-check'
import t from 'tap'
import {
  handlings,
  type LoggedPart,
  type LoggedRequest,
  type LogRecord,
} from '../../src/resources/logged-transaction.js'
import { listTests, parseLogQuery, printLogQuery } from '../../src/traffic/log-query.js'
import { refuse } from '../../src/page/api/http.js'
import {
  composeQuery,
  fits,
  locateRefusal,
  selectTraffic,
  statusClasses,
  type LogFilter,
} from '../../src/page/views/log/compose-query.js'
import { readTimeline } from '../../src/page/views/log/read-timeline.js'
import { formatClock, formatText } from '../../src/page/views/log/format-request.js'

const none: LogFilter = {
  vclGroup: '',
  agents: '',
  tags: '',
  domain: '',
  status: '',
  handling: '',
  url: '',
  query: '',
}
const request: LoggedRequest = {
  at: '2026-01-02T03:04:05.006Z',
  agent: { id: 1, name: 'edge' },
  vclGroup: null,
  method: 'GET',
  host: 'shop.example',
  url: '/a',
  status: 503,
  handling: 'miss',
  bytes: 1,
  ttfbMs: null,
  durationMs: 2,
  backend: '-',
  client: '127.0.0.1',
  xid: 3,
}

void t.test('the fields are combined into one query, with the typed query first', (t) => {
  t.equal(composeQuery(none), '')
  t.equal(composeQuery({ ...none, query: ' RespStatus == 404 ' }), 'RespStatus == 404')
  t.equal(
    composeQuery({ ...none, status: '5xx', handling: 'miss', url: '/a?b', query: 'Hit or TTL' }),
    '(Hit or TTL) and RespStatus >= 500 and RespStatus < 600 and VCL_call eq "MISS" and ReqURL ~ "/a\\\\?b"',
  )
  t.equal(
    composeQuery({ ...none, status: '9xx', handling: 'none' }),
    '',
    'unknown values are ignored',
  )
  const words = selectTraffic({ ...none, agents: '1,2', domain: '3', query: 'Hit' })
  t.same(Object.fromEntries(words), { agents: '1,2', domain: '3', q: 'Hit' })
  t.end()
})

void t.test('for any URL, the query is valid and finds that text', (t) => {
  const text = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 60,
  })
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('', ...statusClasses),
      fc.constantFrom('', ...handlings),
      fc.constantFrom('', 'Hit', 'Hit or not TTL'),
      (url, status, handling, query) => {
        const parsed = parseLogQuery(composeQuery({ ...none, url, status, handling, query }))
        t.ok(printLogQuery(parsed))
        const found = listTests(parsed).find(({ tags }) => tags.includes('ReqURL'))
        t.match(`before ${url} behind`, new RegExp(found?.comparison?.operand ?? '^$'))
        t.notMatch('', new RegExp(found?.comparison?.operand ?? '^$'))
      },
    ),
  )
  t.end()
})

void t.test('only requests that match the fields are shown', (t) => {
  t.ok(fits(request, none))
  t.ok(fits(request, { ...none, status: '5xx', handling: 'miss' }))
  t.notOk(fits(request, { ...none, status: '4xx' }))
  t.notOk(fits(request, { ...none, handling: 'hit' }))
  t.end()
})

void t.test('an error is shown at its place in the typed query', (t) => {
  const filter = { ...none, query: ' Hit andd TTL', url: '/a' }
  const at = (position: number) => refuse(`q, position ${position}: "andd" is wrong`)
  // "(Hit andd TTL) and …"
  t.match(locateRefusal(at(6), filter), {
    error: { errorMsg: 'q, position 6: "andd" is wrong' },
    mark: { from: 5, to: 9 },
  })
  t.match(locateRefusal(at(5), { ...none, query: 'Hit andd' }), { mark: { from: 4, to: 8 } })
  t.equal(locateRefusal(at(30), filter).mark, null, 'after the typed query: from a field')
  t.equal(locateRefusal(refuse('q: it is too long'), filter).mark, null)
  t.end()
})

void t.test('records become steps in the order in which a request waited for them', (t) => {
  const record = (tag: string, text: string): LogRecord => ({ tag, text })
  const at = (name: string, ms: number) => record('Timestamp', `${name}: ${1000 + ms / 1000} 0 0`)
  const part = (its: Partial<LoggedPart>): LoggedPart => ({
    kind: 'request',
    xid: 1,
    parentXid: 0,
    reason: 'rxreq',
    records: [],
    ...its,
  })
  const parts = [
    part({
      records: [
        ...[at('Start', 0), record('ReqURL', '/'), record('VCL_call', 'HASH')],
        ...[record('HitMiss', '5 1'), record('VCL_call', 'MISS'), at('Fetch', 7)],
        ...[record('RespStatus', '200'), record('VCL_call', 'DELIVER'), at('Resp', 9)],
      ],
    }),
    part({ xid: 3, parentXid: 1, reason: 'esi', records: [at('Start', 8), at('Resp', 8.5)] }),
    part({
      kind: 'fetch',
      xid: 2,
      parentXid: 1,
      reason: 'fetch',
      records: [
        at('Bereq', 1),
        record('BerespStatus', '200'),
        at('Beresp', 6),
        at('BerespBody', 7),
      ],
    }),
  ]
  t.same(
    readTimeline(parts).map(({ title, endsAtMs }) => [
      title,
      endsAtMs && Math.round(endsAtMs * 10),
    ]),
    [
      ...[
        ['Received', 0],
        ['Hash', null],
        ['Lookup', 70],
      ],
      ...[
        ['Fetch', 10],
        ['Backend answers', 60],
        ['Body', 70],
      ],
      ...[
        ['Deliver', 90],
        ['Part of the page: Received', 85],
      ],
    ],
  )
  t.same(readTimeline([]), [])
  t.end()
})

void t.test('every record is shown exactly once, for any log', (t) => {
  const anyRecord = fc.record({
    tag: fc.constantFrom('Timestamp', 'VCL_call', 'RespStatus', 'Hit', 'Error', 'ReqURL'),
    text: fc.constantFrom('HASH', 'MISS', 'Restart: 1 0 0', 'Start: 2 0 0', 'odd', ''),
  })
  const anyPart = fc.record({
    kind: fc.constantFrom('request' as const, 'fetch' as const),
    reason: fc.constantFrom('rxreq', 'esi', 'restart', 'fetch', 'bgfetch', ''),
    records: fc.array(anyRecord, { maxLength: 6 }),
  })
  fc.assert(
    fc.property(fc.array(anyPart, { maxLength: 6 }), fc.nat(), (some, seed) => {
      // Each has a parent before it, as the cache numbers them.
      const parts = some.map((one, at) => ({
        ...one,
        xid: at + 1,
        parentXid: at === 0 ? 0 : seed % (at + 1),
      }))
      const told = readTimeline(parts).flatMap(({ records }) => records)
      const all = parts.flatMap(({ records }) => records)
      t.equal(told.length, all.length)
      t.same(new Set(told), new Set(all))
    }),
  )
  t.end()
})

void t.test('times have milliseconds, and control characters of clients are escaped', (t) => {
  t.match(formatClock(request.at), /^\d\d:\d\d:05\.006$/)
  t.equal(formatText('/\u001b[31m\u202e<b>'), '/\\u001b[31m\\u202e<b>')
  t.equal(formatText(''), '–')
  t.end()
})
