/** Log queries: parsing, refusals with their positions, and that the cache's own tool accepts the printed form. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { FleetError } from '../../src/errors.js'
import { judgeLogQuery } from '../../src/traffic/judge-query.js'
import { parseLogQuery, printLogQuery, type LogQuery } from '../../src/traffic/log-query.js'
import type { Masking } from '../../src/traffic/masking.js'
import { findExpressionProblem } from '../../src/traffic/repeated-parts.js'

const open: Masking = { headers: ['x-session'], masksQuery: false, masksClients: true }

void t.test('a query is printed in a normalized form', (t) => {
  const forms = [
    ['RespStatus >= 500', 'RespStatus >= 500'],
    ["ReqURL ~ '^/a'  and not ReqHeader:Cookie", '(ReqURL ~ "^/a" and not (ReqHeader:"Cookie"))'],
    [
      'ReqMethod eq GET or ReqMethod eq "HE\\"AD"',
      '(ReqMethod eq "GET" or ReqMethod eq "HE\\"AD")',
    ],
    ['{2+}BerespStatus,RespStatus != 200', '{2+}BerespStatus,RespStatus != 200'],
    ['Timestamp:Resp[2] > 1.', 'Timestamp:"Resp"[2] > 1.'],
    ['(Hit or HitMiss) and RespStatus == 200', '((Hit or HitMiss) and RespStatus == 200)'],
    ['a or b and c', '(a or (b and c))'],
    ['vxid == 1234', 'vxid == 1234'],
  ] as const
  for (const [text, printed] of forms) t.equal(printLogQuery(parseLogQuery(text)), printed)
  t.end()
})

void t.test('an invalid query is refused with its position', (t) => {
  const refusals = [
    ['', 'q, position 1: a tag such as RespStatus is missing'],
    ['RespStatus >', 'q, position 13: what > compares with is missing'],
    ['RespStatus > many', 'q, position 14: > needs a number, not "many"'],
    [
      'RespStatus == 200 ReqURL',
      'q, position 19: "ReqURL" is not expected here; expected and, or, or the end',
    ],
    ['(Hit', 'q, position 5: ) is missing'],
    ['ReqURL ~ "a', 'q, position 10: this quote is not closed'],
    ['Hit # or VCL_use', 'q, position 5: "#" is not a part of a query'],
    ['Hit\nVCL_use', 'q, position 4: a control character is not allowed'],
    ['Hit; rm', 'q, position 4: ";" is not a part of a query'],
    ['vxid,Hit == 1', 'q, position 10: vxid stands alone before its operator'],
    [`${'('.repeat(21)}Hit${')'.repeat(21)}`, 'q, position 22: brackets are nested deeper than 20'],
    [
      `ReqURL eq "${'a'.repeat(1024)}"`,
      'q, position 1: it has 1036 bytes; at most 1024 are allowed',
    ],
  ] as const
  for (const [text, message] of refusals)
    t.throws(() => parseLogQuery(text), { kind: 'invalid', errorKey: 'log', message })
  t.end()
})

const refusedOf = (text: string, isBound: boolean, masking = open): string | null => {
  try {
    judgeLogQuery(text, parseLogQuery(text), { isBound, masking })
    return null
  } catch (error) {
    if (error instanceof FleetError) return error.message
    throw error
  }
}

void t.test('a query cannot reveal masked values', (t) => {
  const oracles = [
    'ReqHeader:Cookie ~ "^a"',
    'ReqHeader:cOOkie eq "a"',
    'ReqHeader:"Authorization" ~ "Basic a"',
    'RespHeader:Set-Cookie ~ "sid=1"',
    'BereqHeader:X-Cachefleet-Host eq "a"',
    'ReqHeader:x-session eq "1"',
    'ReqHeader:X-Forwarded-For ~ "^192"',
    'ReqHeader ~ "Cookie: a"',
    'ReqHeader[2] ~ "a"',
    'ReqMethod,RespHeader ~ "Cookie: a"',
    'Req* ~ "Cookie: a"',
    '*Unset ~ "Cookie: a"',
    '* ~ "a"',
    'not (ReqHeader:Cookie !~ "^a")',
    'Hit and (Hit or ReqHeader:Cookie eq "a")',
    'ReqStart ~ "^192"',
  ]
  for (const text of oracles) t.match(refusedOf(text, false), /masked|by its name/, text)
  const asked = [
    'ReqHeader:Cookie',
    'not ReqHeader:Cookie',
    'ReqHeader:Host eq "a"',
    'ReqURL ~ "a"',
    '*Error',
  ]
  for (const text of asked) t.equal(refusedOf(text, false), null, text)
  const masksQuery = { ...open, masksQuery: true }
  t.match(refusedOf('ReqURL ~ "token=a"', false, masksQuery), /URLs are not compared/)
  t.match(refusedOf('Hash ~ "token=a"', false, masksQuery), /URLs are not compared/)
  for (const test of ['ReqHeader:Referer', 'RespHeader:location', 'RespHeader:Content-Location']) {
    const text = `${test} ~ "token=a"`
    t.match(refusedOf(text, false, masksQuery), /URLs are not compared/, text)
    t.equal(refusedOf(text, false), null, 'where query strings are shown')
  }
  t.equal(refusedOf('ReqHeader:Accept ~ "html"', false, masksQuery), null)
  t.equal(refusedOf('ReqStart ~ "^192"', false, { ...open, masksClients: false }), null)
  t.end()
})

void t.test('an organization may query listed tags only, with cheap expressions', (t) => {
  for (const text of ['VCL_Log:a ~ "b"', 'VCL_use ~ "cf-2"', 'Req*', 'Debug', 'vxid == 1'])
    t.match(refusedOf(text, true), /is not an allowed tag/, text)
  t.equal(refusedOf('respstatus >= 500 and Timestamp:Resp[2] > 0.5', true), null)
  t.match(refusedOf('ReqURL ~ "(a+)+$"', true), /must not contain a repetition/)
  t.match(refusedOf(`ReqURL ~ "${'a'.repeat(101)}"`, true), /at most 100 characters/)
  t.end()
})

void t.test('an expression of exponential cost is refused, a usual one is accepted', (t) => {
  const costly = [
    '(a*)*',
    '(a|a)+b',
    '((ab)*c)+',
    '(?:x+y?){2,}',
    '(a)\\1',
    '(?=a)b',
    '.*.*.*.*.*x',
    '(a|b){9}',
  ]
  for (const text of costly) t.not(findExpressionProblem(text), null, text)
  const usual = [
    '^/shop/.*\\.(png|jpe?g)$',
    '[(|*+)]+',
    '\\(a\\)+',
    '(?i)^/a',
    '(ab)+',
    '^/a{1,3}/',
    '(a|b)?c',
    '',
  ]
  for (const text of usual) t.equal(findExpressionProblem(text), null, text)
  t.end()
})

const name = fc.constantFrom('ReqURL', 'RespStatus', 'ReqHeader', 'VCL_call', 'Timestamp')
const operand = fc.string({
  unit: fc.constantFrom('a', 'B', '1', ' ', '"', "'", '\\', '.', '(', '=', 'é'),
  maxLength: 12,
})
const { query } = fc.letrec<{ query: LogQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({
      kind: fc.constant('test' as const),
      level: fc.constantFrom(null, '0', '2+', '1-'),
      tags: fc.array(name, { minLength: 1, maxLength: 3 }),
      prefix: fc.option(fc.constantFrom('Host', 'x-a', 'a b"c'), { nil: null }),
      field: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
      comparison: fc.option(
        fc.oneof(
          fc.record({
            operator: fc.constantFrom('==' as const, '<=' as const, '>' as const),
            operand: fc.constantFrom('1', '-2', '0.5'),
            at: fc.constant(0),
          }),
          fc.record({
            operator: fc.constantFrom('eq' as const, 'ne' as const),
            operand,
            at: fc.constant(0),
          }),
        ),
        { nil: null },
      ),
      at: fc.constant(0),
    }),
    fc.record({ kind: fc.constant('not' as const), of: tie('query') }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      left: tie('query'),
      right: tie('query'),
    }),
  ),
}))

void t.test('a printed query parses back to the same query', (t) => {
  const strip = (text: string): unknown => JSON.parse(text.replaceAll(/"at":\d+/g, '"at":0'))
  fc.assert(
    fc.property(query, (one) => {
      const printed = printLogQuery(one)
      fc.pre(Buffer.byteLength(printed) <= 1024)
      t.same(strip(JSON.stringify(parseLogQuery(printed))), strip(JSON.stringify(one)))
    }),
  )
  t.end()
})

void t.test("the cache's own tool accepts the printed form", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-query-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const printed = fc.sample(query, { numRuns: 20, seed: 7 }).map(printLogQuery)
  for (const text of printed) {
    const run = promisify(execFile)('varnishncsa', [
      '-n',
      folder,
      '-t',
      '0',
      '-g',
      'request',
      '-q',
      text,
    ])
    const { stderr } = (await run.catch((error: unknown) => error)) as { stderr: string }
    t.notMatch(stderr, /expression|parse|syntax/i, text)
  }
})
