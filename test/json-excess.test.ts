/** What JSON should not even be parsed. */
import fc from 'fast-check'
import t from 'tap'
import { findJsonExcess } from '../src/json-excess.js'

const limits = { depth: 5, members: 20, keys: 8 }
const judge = (text: string) => findJsonExcess(Buffer.from(text), limits)

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Objects and arrays, and commas between members. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts: unknown[] = Object.values(value)
  return Math.max(1, parts.length) + parts.reduce<number>((sum, part) => sum + membersOf(part), 0)
}

/** Of the largest object. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts: unknown[] = Object.values(value)
  return Math.max(Array.isArray(value) ? 0 : parts.length, ...parts.map(keysOf))
}

void t.test('depth and members are counted, and nothing that stands in texts', (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const isFew = membersOf(value) <= limits.members && keysOf(value) <= limits.keys
      const told = judge(JSON.stringify(value))
      t.equal(told === null, depthOf(value) <= limits.depth && isFew)
    }),
  )
  t.end()
})

void t.test('what is no JSON is judged too, and quickly', (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      t.doesNotThrow(() => judge(text))
    }),
  )
  t.match(judge('[[[[[['), /nested deeper than 5/)
  t.match(judge(','.repeat(21)), /over 20 members/)
  t.match(judge(`{${'"a":1,'.repeat(9)}`), /object of over 8 members/)
  t.equal(judge(`"${'[,'.repeat(100)}`), null, 'a text without an end')
  t.equal(judge(`"${'\\"[,'.repeat(100)}"`), null, 'quotes in a text')
  t.end()
})
