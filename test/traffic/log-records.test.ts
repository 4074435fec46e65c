/** Complete records of requests: parsing the tool's output, which group they belong to, and what may leave the host. */
import fc from 'fast-check'
import t from 'tap'
import { toTransaction } from '../../src/traffic/log-line.js'
import { findAnswered, keepParts, toLogLine, toShown } from '../../src/traffic/log-records.js'
import { RecordGroups, type RecordGroup } from '../../src/traffic/record-groups.js'
import type { Masking } from '../../src/traffic/masking.js'

const open: Masking = { headers: [], masksQuery: false, masksClients: false }
const masked: Masking = { headers: ['x-session'], masksQuery: true, masksClients: true }

const read = (lines: readonly string[]): RecordGroup[] => {
  const groups: RecordGroup[] = []
  const reader = new RecordGroups((group) => groups.push(group))
  for (const line of lines) reader.read(line)
  return groups
}

const readOne = (lines: readonly string[]): RecordGroup =>
  read([...lines, ''])[0] ?? { parts: [], leftOut: 0 }

/** From Varnish 7.1: VCL of group 12 restarts the request into group 13; part of its page is from group 14. */
const restarted = [
  '*   << Request  >> 32773     ',
  '-   Begin          req 32772 rxreq',
  '-   Timestamp      Start: 1795513624.909219 0.000000 0.000000',
  '-   VCL_use        cf-r-0a1b2c3d-1',
  '-   ReqStart       192.0.2.77 33198 a0',
  '-   ReqURL         /first?token=1',
  '-   ReqHeader      Host: a.example',
  '-   VCL_use        cf-12-0a1b2c3d-1 via cf-l-12',
  '-   VCL_return     restart',
  '-   Timestamp      Restart: 1795513624.909255 0.000036 0.000036',
  '*   << Request  >> 32774     ',
  '-   Begin          req 32773 restart',
  '-   Timestamp      Start: 1795513624.909255 0.000036 0.000000',
  '-   VCL_use        cf-13-0a1b2c3d-1 via cf-l-13',
  '-   ReqStart       192.0.2.77 33198 a0',
  '-   ReqMethod      GET',
  '-   ReqURL         /second?token=1',
  '-   ReqHeader      host: b.example',
  '-   ReqHeader      Cookie: secret',
  '-   ReqHeader      Referer: http://b.example/?token=1',
  '-   ReqHeader      X-Session: secret',
  '-   ReqHeader      X-Forwarded-For: 192.0.2.77',
  '-   VCL_call       RECV',
  '-   VCL_call       MISS',
  '-   RespStatus     200',
  '-   VCL_call       DELIVER',
  '-   Timestamp      Process: 1795513624.909857 0.000638 0.000005',
  '-   Timestamp      Resp: 1795513624.909875 0.000655 0.000017',
  '-   ReqAcct        101 0 101 174 2 176',
  '**  << BeReq    >> 32775     ',
  '--  Begin          bereq 32774 fetch',
  '--  BackendOpen    24 origin 127.0.0.1 19990 127.0.0.1 38042 reuse',
  '--  BerespStatus   200',
  '**  << Request  >> 32776     ',
  '--  Begin          req 32774 esi',
  '--  VCL_use        cf-14-0a1b2c3d-1 via cf-l-14',
  '--  ReqHeader      Host: c.example',
  '*** << BeReq    >> 32777     ',
  '--- Begin          bereq 32776 fetch',
  '--- BackendOpen    25 other 127.0.0.1 19990 127.0.0.1 38042 reuse',
]

void t.test('the answered request has the same facts as its log line', (t) => {
  const group = readOne(restarted)
  t.same(
    group.parts.map(({ kind, xid, parentXid, reason }) => [kind, xid, parentXid, reason]),
    [
      ['request', 32773, 32772, 'rxreq'],
      ['request', 32774, 32773, 'restart'],
      ['fetch', 32775, 32774, 'fetch'],
      ['request', 32776, 32774, 'esi'],
      ['fetch', 32777, 32776, 'fetch'],
    ],
  )
  const answered = findAnswered(group)
  const line = answered && toLogLine(answered, group.parts)
  t.same(line && toTransaction(line, line.backend, open), {
    at: 1_795_513_624_909,
    method: 'GET',
    url: '/second?token=1',
    host: 'b.example',
    status: 200,
    bytes: 176,
    ttfbMs: 0.64,
    durationMs: 0.66,
    handling: 'miss',
    backend: 'origin',
    xid: 32774,
    client: '192.0.2.77',
  })
  t.equal(findAnswered(readOne(restarted.slice(29, 33))), null, 'a lone fetch is not a request')
  t.end()
})

void t.test('parts that other groups’ VCL answered are left out with their fetches', (t) => {
  const { parts } = readOne(restarted)
  const xids = (names: RegExp) => keepParts(parts, names).map(({ xid }) => xid)
  t.same(xids(/^cf-12-/), [32773])
  t.same(xids(/^cf-13-/), [32774, 32775])
  t.same(xids(/^cf-(14|12)-/), [32773, 32776, 32777])
  t.same(xids(/^cf-99-/), [])
  t.end()
})

void t.test('secrets are masked in records, and only listed tags are shown', (t) => {
  const part = readOne(restarted).parts[1]
  const shown = part && toShown(part, masked)
  const text = JSON.stringify(shown)
  t.notMatch(text, /secret|token=1|192\.0\.2|cf-13|BackendOpen|ReqStart/)
  t.match(text, /"Cookie: \[masked\]".*"X-Session: \[masked\]".*"X-Forwarded-For: \[masked\]"/)
  t.match(text, /"\/second\?\[masked\]".*"Referer: http:\/\/b\.example\/\?\[masked\]"/)
  t.match(part && JSON.stringify(toShown(part, open)), /"Referer: http:\/\/b\.example\/\?token=1"/)
  t.end()
})

void t.test('any record text stays a single record of its part', (t) => {
  const text = fc.string({
    unit: fc
      .integer({ min: 0, max: 255 })
      .filter((byte) => byte !== 10)
      .map((byte) => String.fromCharCode(byte)),
    maxLength: 40,
  })
  const around = ['*   << Request  >> 2         ', '-   Begin          req 1 rxreq']
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
      const lines = texts.map((one) => `-   ReqHeader      ${one}`)
      const group = readOne([...around, ...lines, '-   RespStatus     200'])
      t.equal(group.parts.length, 1)
      t.same(
        group.parts[0]?.records.map(({ tag }) => tag),
        ['Begin', ...texts.map(() => 'ReqHeader'), 'RespStatus'],
      )
    }),
  )
  t.end()
})

void t.test('bytes are decoded as UTF-8 or kept escaped', (t) => {
  const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
  const lines = [
    '*   << Request  >> 2',
    `-   ReqURL         /${latin1('ä')}`,
    '-   ReqURL         /\xff\x80',
  ]
  t.same(
    readOne(lines).parts[0]?.records.map(({ text: one }) => one),
    ['/ä', '/\\xff\\x80'],
  )
  t.end()
})

void t.test('the records of a request are limited, and omitted ones are counted', (t) => {
  const many = Array.from({ length: 1_500 }, (_, at) => `-   ReqHeader      X-${at}: a`)
  const group = readOne(['*   << Request  >> 2', ...many])
  t.equal(group.parts[0]?.records.length, 1_000)
  t.equal(group.leftOut, 500)
  const long = Array.from({ length: 50 }, () => `-   ReqHeader      X: ${'a'.repeat(4_000)}`)
  const bounded = readOne(['*   << Request  >> 2', ...long])
  t.equal((bounded.parts[0]?.records.length ?? 0) + bounded.leftOut, 50)
  t.ok(bounded.leftOut > 0)
  const garbage = read([
    '',
    'nothing',
    '*',
    '-',
    '- ',
    '*   << Session  >> 1',
    '-   End            ',
    '',
    '',
  ])
  t.same(garbage, [])
  t.end()
})
