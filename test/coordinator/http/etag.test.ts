/** Entity tags: a tag is found in every list that holds it and in no other (RFC 9110, 13.1). */
import fc from 'fast-check'
import t from 'tap'
import {
  digestEditable,
  isUnchanged,
  makeTag,
  readIfMatch,
} from '../../../src/coordinator/http/etag.js'

const quoted = fc
  .array(fc.integer({ min: 0x23, max: 0x7e }), { maxLength: 20 })
  .map((codes) => `"${String.fromCharCode(...codes)}"`)
const object = fc.record({
  name: fc.string(),
  count: fc.option(fc.integer()),
  tags: fc.array(fc.record({ id: fc.nat(), name: fc.string() }), { maxLength: 3 }),
  state: fc.integer(),
})
const keys = ['name', 'count', 'tags']
const tagOf = (value: object) => makeTag(digestEditable(value, keys), JSON.stringify(value))

void t.test('the own tag is found in any list; only If-None-Match accepts it weak', (t) => {
  fc.assert(
    fc.property(
      object,
      fc.array(quoted),
      fc.nat(),
      fc.constantFrom(',', ', ', ' ,\t'),
      (...given) => {
        const [value, others, at, comma] = given
        const own = tagOf(value)
        const list = (tag: string) => others.toSpliced(at % (others.length + 1), 0, tag).join(comma)
        const edition = digestEditable(value, keys)
        t.ok(readIfMatch(list(own), 'tag')?.has(edition))
        t.notOk(readIfMatch(list(`W/${own}`), 'tag')?.has(edition))
        t.ok(isUnchanged(list(own), own) && isUnchanged(list(`W/${own}`), own))
        t.notOk(isUnchanged(others.join(comma), own))
      },
    ),
    { numRuns: 200 },
  )
  t.end()
})

void t.test('an edition covers the editable keys, a tag the whole object', (t) => {
  fc.assert(
    fc.property(object, object, (one, other) => {
      const edited = { ...one, name: `${one.name}+` }
      const renamed = { ...one, tags: one.tags.map((tag) => ({ ...tag, name: other.name })) }
      const moved = { ...one, state: one.state + 1 }
      t.not(digestEditable(edited, keys), digestEditable(one, keys))
      t.equal(digestEditable(renamed, keys), digestEditable(one, keys))
      t.equal(digestEditable(moved, keys), digestEditable(one, keys))
      t.not(tagOf(moved), tagOf(one))
    }),
    { numRuns: 200 },
  )
  t.end()
})

void t.test('an invalid list of tags is refused, also a long one', (t) => {
  for (const header of [
    '',
    'abc',
    '"a',
    'a"b"',
    '"a" "b"',
    'w/"a"',
    '"a\u0001"',
    `${'"a",'.repeat(3000)}x`,
  ])
    t.throws(() => readIfMatch(header, 'tag'), {
      kind: 'invalid',
      message: /^If-Match is not a list/,
    })
  t.equal(readIfMatch('*', 'tag'), null)
  t.equal(readIfMatch(undefined, 'tag'), null)
  t.notOk(isUnchanged('nonsense', '"a"'))
  t.ok(isUnchanged('*', '"a"'))
  t.end()
})
