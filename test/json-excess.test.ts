/** Limits that JSON must meet before it is parsed. */
import fc from 'fast-check'
import t from 'tap'
import { findJsonExcess } from '../src/json-excess.js'
import { splitJson } from '../src/json-parts.js'

const limits = { depth: 5, members: 20, keys: 8 }
const judge = (text: string) => findJsonExcess(Buffer.from(text), limits)

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** The number of objects and arrays, and of commas between members. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts: unknown[] = Object.values(value)
  return Math.max(1, parts.length) + parts.reduce<number>((sum, part) => sum + membersOf(part), 0)
}

/** The number of keys of the largest object. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts: unknown[] = Object.values(value)
  return Math.max(Array.isArray(value) ? 0 : parts.length, ...parts.map(keysOf))
}

void t.test('depth and members are counted outside of strings only', (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const isFew = membersOf(value) <= limits.members && keysOf(value) <= limits.keys
      const told = judge(JSON.stringify(value))
      t.equal(told === null, depthOf(value) <= limits.depth && isFew)
    }),
  )
  t.end()
})

void t.test('invalid JSON is judged as well, and quickly', (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      t.doesNotThrow(() => judge(text))
    }),
  )
  t.match(judge('[[[[[['), /nested deeper than 5/)
  t.match(judge(','.repeat(21)), /over 20 members/)
  t.match(judge(`{${'"a":1,'.repeat(9)}`), /object of over 8 members/)
  t.equal(judge(`"${'[,'.repeat(100)}`), null, 'a string without an end')
  t.equal(judge(`"${'\\"[,'.repeat(100)}"`), null, 'escaped quotes within a string')
  t.end()
})

const wide = { depth: 64, members: 1_000_000, keys: 10_000 }
const wholePart = { bytes: 5 << 20, members: 100_000 }

/** The value that results from all parts together. */
function readParts(text: string): { readonly value: unknown; readonly parts: number } {
  const texts = [...splitJson(Buffer.from(text), wide, wholePart)].filter((part) => part !== null)
  const values = texts.map((part) => JSON.parse(part) as unknown)
  return { value: values.length === 1 ? values[0] : values.flat(1), parts: values.length }
}

void t.test('JSON parsed in parts equals JSON parsed as a whole', (t) => {
  // Some members are long enough to fill a part; brackets, commas and quotes within strings do not split.
  const long = fc.constantFrom('[,{"', '\\', '"', 'ä', '],[', '\n').map((unit) => unit.repeat(9000))
  const member = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record({ a: long, b: fc.array(long, { maxLength: 2 }) }),
    fc.array(long, { maxLength: 2 }),
    long,
  )
  const indent = fc.constantFrom(undefined, 1, '\t')
  let most = 0
  fc.assert(
    fc.property(fc.array(member, { maxLength: 24 }), indent, (list, blanks) => {
      const text = JSON.stringify(list, null, blanks)
      const { value, parts } = readParts(text)
      most = Math.max(most, parts)
      if (JSON.stringify(value) !== JSON.stringify(list)) throw new Error('another value')
    }),
    { numRuns: 200 },
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.record({ a: long, b: member }), fc.jsonValue()),
      indent,
      (one, blanks) => {
        const { value, parts } = readParts(JSON.stringify(one, null, blanks))
        if (parts !== 1 || JSON.stringify(value) !== JSON.stringify(one)) throw new Error('parted')
      },
    ),
  )
  t.ok(most > 3, `at most ${most} parts`)
  t.end()
})

void t.test('invalid JSON is also invalid in parts', (t) => {
  const row = `"${'x'.repeat(70_000)}"`
  for (const text of [`[${row},${row},]`, `[${row},${row}`, `[${row},,${row}]`, `[${row},${row}]]`])
    t.throws(() => readParts(text), SyntaxError)
  t.throws(() => readParts(`[${row},"${'x'.repeat(6 << 20)}"]`), /no list of smaller members/)
  t.end()
})
