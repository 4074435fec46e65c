/** The ban grammar: what it accepts, what it refuses and where, and that accepted bans reach the cache unchanged. */
import fc from 'fast-check'
import t from 'tap'
import { ban, writeBlanksAsEscapes } from '../../protocol/commands/ban.js'
import { splitLine } from '../../protocol/quote.js'
import {
  narrowToGroup,
  parseBanExpression,
  printBanExpression,
  type BanTerm,
} from '../../src/vcl/ban-expression.js'
import {
  listOwnHeaders,
  warnOfBan,
  warnOfHeaders,
} from '../../src/coordinator/invalidations/ban-warnings.js'
import { FleetError } from '../../src/errors.js'

/** Texts special to one of the parsers on the way. */
const nasty = fc.constantFrom(
  ...[
    '<<',
    '<',
    '\\x3c',
    '\\074',
    '\\74',
    '&&',
    '||',
    '"',
    '\\',
    '\\"',
    '\\\\',
    '\\n',
    '\\000',
    ' ',
    '%',
    '~',
  ],
  ...['a', 'EOF', '\u00e9', '\u{1f600}', "'", '#', ';', '{', '\\Q', '(?x)', '\\c'],
)
const text = fc.oneof(
  fc.array(nasty, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
)
const field = fc.constantFrom('req.url', 'obj.status', 'req.http.Host', 'obj.http.x-a', 'obj.age')
const operator = fc.constantFrom('==', '!=', '~', '!~', '>', '<=')
const wildExpression = fc
  .array(fc.tuple(field, operator, text), { minLength: 1, maxLength: 3 })
  .map((terms) => terms.map((words) => words.join(' ')).join(' && '))
const anything = fc.oneof(
  wildExpression,
  fc.array(text).map((parts) => parts.join(' ')),
)

function parse(expression: string): readonly BanTerm[] | FleetError {
  try {
    return parseBanExpression(expression)
  } catch (error) {
    if (error instanceof FleetError) return error
    throw error
  }
}

/** In the form the agent sends (src/agent/invalidate/invalidate.ts). */
function toSent(terms: readonly BanTerm[]): readonly BanTerm[] {
  return terms.map((term) =>
    term.operator.endsWith('~') ? { ...term, value: writeBlanksAsEscapes(term.value) } : term,
  )
}

void t.test('every expression is accepted or refused with a position within it', (t) => {
  fc.assert(
    fc.property(anything, (expression) => {
      const parsed = parse(expression)
      if (!(parsed instanceof FleetError)) return
      const position = Number(/position (\d+)/.exec(parsed.message)?.[1])
      if (!(position >= 1 && position <= Array.from(expression).length + 1))
        throw new Error(parsed.message)
    }),
    { numRuns: 2000 },
  )
  t.end()
})

void t.test('an accepted expression stays the same when printed and parsed again', (t) => {
  for (const value of ['a b', 'a"b', 'a \\d', 'a "\\d']) {
    const terms: readonly BanTerm[] = [{ field: 'req.url', operator: '~', value }]
    t.match(parse(printBanExpression(terms)), terms)
  }
  fc.assert(
    fc.property(anything, (expression) => {
      const parsed = parse(expression)
      if (parsed instanceof FleetError) return
      t.strictSame(parseBanExpression(printBanExpression(parsed)), parsed)
    }),
    { numRuns: 2000 },
  )
  t.end()
})

void t.test('an accepted expression reaches the cache word for word', (t) => {
  fc.assert(
    fc.property(anything, (expression) => {
      const parsed = parse(expression)
      if (parsed instanceof FleetError) return
      const sent = toSent(narrowToGroup(parsed, 7))
      const { line } = ban(sent)
      const words = sent.flatMap((term, index) => [
        ...(index > 0 ? ['&&'] : []),
        ...[term.field, term.operator, term.value],
      ])
      t.strictSame(splitLine(String(line)), ['ban', ...words])
      if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(String(line))) throw new Error(String(line))
      if (words.some((word) => word === '<<' || word === '')) throw new Error(words.join(' '))
    }),
    { numRuns: 2000 },
  )
  t.end()
})

void t.test('a refusal contains the position', (t) => {
  const rows: readonly (readonly [string, number])[] = [
    ['', 1],
    ['req.url', 8],
    ['req.url ~', 10],
    ['req.url ~ a\nban req.url ~ b', 12],
    ['req.url ~ a\u2028', 12],
    ['req.url ~ \0', 11],
    ['\u{1f600} ~ a', 1],
    ['req.url ~ \u{1f600}"', 12],
    ['req.url ~ "open', 11],
    ['req.url ~ a"b', 12],
    ['req.url ~ "a"b', 14],
    ['req.url ~ <<', 11],
    ['req.url ~ "<<"', 11],
    ['req.url ~ "\\x3c<"', 11],
    ['req.url ~ \\074\\74', 11],
    ['req.url == "a b"', 12],
    ['req.url ~ ""', 11],
    ['req.url ~ "\\Qa b\\E"', 11],
    ['req.url = a', 9],
    ['req.method == GET', 1],
    ['client.ip == 1', 1],
    ['obj.hits > 3', 1],
    ['obj.status >= 500', 12],
    ['obj.age > 5', 11],
    ['req.http. == x', 1],
    [`req.http.${'a'.repeat(127)} == x`, 1],
    ['req.url ~ a || req.url ~ b', 13],
    ['req.url ~ a "&&" req.url ~ b', 13],
    ['req.url ~ a &&', 15],
    ['req.url ~ a\tb', 12],
    [`req.url ~ ${'a'.repeat(100_000)}`, 1],
  ]
  for (const [index, [expression, position]] of rows.entries()) {
    const refused = parse(expression)
    const name = `row ${index}`
    t.match(refused, { kind: 'invalid', errorKey: 'invalidation' }, name)
    t.match(refused instanceof FleetError && refused.message, `position ${position}:`, name)
  }
  t.end()
})

void t.test('only \\" and \\\\ are escapes, and only in quotes', (t) => {
  const valueOf = (word: string): unknown => {
    const parsed = parse(`req.url ~ ${word}`)
    return parsed instanceof FleetError ? parsed.message : parsed[0]?.value
  }
  t.equal(valueOf('"a\\"b\\\\c\\sd"'), 'a"b\\c\\sd')
  t.equal(valueOf('\\.jpg\\\\'), '\\.jpg\\\\')
  t.equal(valueOf('&&'), '&&', 'an operator is a value in a value’s place')
  t.equal(valueOf('"a b"'), 'a b')
  t.end()
})

void t.test('warnings flag bans that the lurker cannot use or that match everything', (t) => {
  const warn = (expression: string) => warnOfBan(parseBanExpression(expression)).join()
  t.match(warn('req.url ~ ^/a'), /lurker/)
  t.equal(warn('obj.http.x-url ~ ^/a'), '')
  t.equal(warn('obj.age > 1h'), '')
  for (const all of [
    'req.url ~ .',
    'req.url ~ /',
    'obj.status != 0',
    'obj.http.x ~ .*',
    'obj.age >= 0s',
  ])
    t.match(warn(all), /every object/, all)
  for (const some of ['req.url ~ ^/$', 'obj.status != 200', 'req.url ~ . && obj.status == 404'])
    t.notMatch(warn(some), /every object/, some)
  t.end()
})

void t.test('a header that no target’s VCL mentions causes a warning', (t) => {
  const headers = listOwnHeaders(
    parseBanExpression('obj.http.X-Url ~ a && obj.http.Content-Type ~ b && req.http.Host == c'),
  )
  t.same(headers, ['x-url'])
  t.match(warnOfHeaders(headers, ['sub vcl_recv { }']), [/x-url.*matches nothing/])
  t.same(warnOfHeaders(headers, ['set beresp.http.x-URL = bereq.url;']), [])
  t.same(warnOfHeaders(headers, []), [], 'no VCL is known')
  t.end()
})
