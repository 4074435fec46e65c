import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  everything,
  matchesPattern,
  parseListQuery,
  parsePatterns,
  takeFromList,
  type ListFields,
} from '../../src/resources/list-query.js'
import { FleetError } from '../../src/errors.js'
import { escapePattern, patternOf, shortText } from '../support/list-arbitraries.js'

const fields: ListFields = {
  id: { type: 'number' },
  name: { type: 'text' },
  createdAt: { type: 'time' },
  static: { type: 'flag' },
  'tags.name': { type: 'nested' },
}

const parse = (query: Record<string, string | string[]>) => parseListQuery(query, fields, 'tag')

void t.test('an escaped text matches itself', (t) => {
  fc.assert(
    fc.property(fc.array(shortText, { minLength: 1, maxLength: 5 }), (texts) => {
      assert.deepEqual(
        parsePatterns(texts.map(escapePattern).join(',')),
        texts.map((text) => [text]),
      )
    }),
  )
  t.end()
})

void t.test('a pattern matches any text put in place of its wildcards', (t) => {
  const filled = patternOf(shortText).chain((pattern) =>
    fc
      .array(shortText, { minLength: pattern.length - 1, maxLength: pattern.length - 1 })
      .map((fills) => ({
        pattern,
        text: pattern.map((piece, at) => piece + (fills[at] ?? '')).join(''),
      })),
  )
  fc.assert(
    fc.property(filled, ({ pattern, text }) => {
      assert.ok(matchesPattern(pattern, text))
      assert.deepEqual(parsePatterns(pattern.map(escapePattern).join('*')), [pattern])
    }),
  )
  t.end()
})

void t.test('a pattern matches the same texts as the equivalent regular expression', (t) => {
  fc.assert(
    fc.property(patternOf(shortText), shortText, (pattern, text) => {
      const same = new RegExp(
        `^${pattern.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`,
        's',
      )
      assert.equal(matchesPattern(pattern, text), same.test(text))
    }),
  )
  t.end()
})

void t.test('patterns are parsed with wildcards, alternatives and escapes', (t) => {
  const cases: [string, string[][]][] = [
    ['', [['']]],
    ['a', [['a']]],
    ['a*', [['a', '']]],
    ['*', [['', '']]],
    ['a**b', [['a', 'b']]],
    [`${'*'.repeat(2000)}x`, [['', 'x']]],
    ['a,b*', [['a'], ['b', '']]],
    ['a,,', [['a'], [''], ['']]],
    ['a\\*', [['a*']]],
    ['a\\,b', [['a,b']]],
    ['a\\\\*', [['a\\', '']]],
    ['a\\b\\', [['a\\b\\']]],
    ['%_?[0-9]', [['%_?[0-9]']]],
  ]
  for (const [text, patterns] of cases) t.strictSame(parsePatterns(text), patterns, text)
  t.end()
})

void t.test('matching never backtracks exponentially', (t) => {
  const pattern = parsePatterns(`${'*a'.repeat(2000)}*c`)[0] ?? ['']

  t.notOk(matchesPattern(pattern, `${'a'.repeat(100_000)}b`))
  t.end()
})

void t.test('filters, sort and take are parsed; names of fields are case-insensitive', (t) => {
  t.strictSame(parse({}), everything)
  t.strictSame(
    parse({ NAME: 'edge*', 'tags.name': 'eu,us', sort: 'createdat:desc', Take: '50,100' }),
    {
      filters: [
        { field: 'name', anyOf: [['edge', '']] },
        { field: 'tags.name', anyOf: [['eu'], ['us']] },
      ],
      sort: { field: 'createdAt', descending: true },
      take: { limit: 50, offset: 100 },
    },
  )
  t.strictSame(parse({ sort: 'name' }).sort, { field: 'name', descending: false })
  t.strictSame(parse({ take: '1000' }).take, { limit: 1000, offset: 0 })
  t.end()
})

void t.test('unknown or invalid parameters are refused by name', (t) => {
  const invalid = (query: Record<string, string | string[]>, message: string) => {
    t.throws(() => parse(query), { kind: 'invalid', errorKey: 'tag', message }, message)
  }

  for (const name of [
    'nope',
    'tags.nope',
    'tags.id.x',
    '__proto__',
    'constructor',
    'toString',
    'name[]',
  ])
    invalid(Object.fromEntries([[name, '1']]), `"${name}"`)
  invalid({ name: ['a', 'b'] }, '"name" is given twice')
  invalid({ name: 'a', Name: 'b' }, '"Name" is given twice')
  invalid({ sort: 'name', Sort: 'id' }, '"Sort" is given twice')
  const sorts = [
    'nope',
    'name:sideways',
    'name:',
    ':desc',
    'name desc',
    '__proto__',
    'name,id',
    '',
    'name:asc:',
  ]
  for (const sort of [...sorts, 'tags.name']) invalid({ sort }, '"sort"')
  const takes = [
    '0',
    '1001',
    '-1',
    '5,-1',
    'x',
    '5,x',
    '1.5',
    '',
    ',5',
    '5,',
    '5,5,5',
    '1e2',
    '0x5',
    ' 5',
    '05',
  ]
  for (const take of [...takes, '99999999999999999999', '1,1000000000000000'])
    invalid({ take }, '"take"')
  invalid({ name: 'a,'.repeat(3000) }, '"name" has too many patterns')
  invalid({ name: 'a*,'.repeat(101) }, '"name" has too many patterns')
  t.end()
})

void t.test('any query is either parsed or refused as invalid', (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(fc.constantFrom('name', 'sort', 'take', 'id'), fc.string()),
        fc.string(),
      ),
      (query) => {
        try {
          parse(query)
        } catch (error) {
          assert.ok(error instanceof FleetError && error.kind === 'invalid')
        }
      },
    ),
  )
  t.end()
})

void t.test('a list in memory is filtered, sorted and paged', (t) => {
  const items = [
    { id: 1, name: 'b', tags: ['eu', 'us'], error: null },
    { id: 2, name: 'a', tags: ['us'], error: 'x' },
    { id: 3, name: 'b', tags: [], error: null },
    { id: 10, name: 'B', tags: ['eu'], error: 'a' },
  ]
  const shape: ListFields = { ...fields, error: { type: 'text' } }
  const ids = (query: Record<string, string>) => {
    const { rows, total } = takeFromList(
      items,
      parseListQuery(query, shape, 'tag'),
      (item, field) => {
        if (field === 'tags.name') return item.tags
        if (field === 'error') return [item.error]
        return [field === 'id' ? item.id : item.name]
      },
    )
    return `${rows.map((item) => item.id).join()}/${total}`
  }

  t.equal(ids({}), '1,2,3,10/4')
  t.equal(ids({ sort: 'name' }), '10,2,1,3/4')
  t.equal(ids({ sort: 'name:desc' }), '1,3,2,10/4')
  t.equal(ids({ sort: 'error' }), '1,3,10,2/4')
  t.equal(ids({ sort: 'id:desc', take: '2,1' }), '3,2/4')
  t.equal(ids({ name: 'b,B', take: '2' }), '1,3/3')
  t.equal(ids({ id: '1*' }), '1,10/2')
  t.equal(ids({ 'tags.name': 'eu,us' }), '1,2,10/3')
  t.equal(ids({ 'tags.name': '*', name: 'b' }), '1/1')
  t.equal(ids({ error: 'null' }), '1,3/2')
  t.equal(ids({ take: '5,50' }), '/4')
  t.end()
})
