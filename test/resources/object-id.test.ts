/** The console's ids encode a kind and a number. */
import fc from 'fast-check'
import t from 'tap'
import {
  parseCommitId,
  parseObjectId,
  toCommitId,
  toObjectId,
} from '../../src/resources/object-id.js'

const numbers = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const kinds = fc.constantFrom('group', 'user', 'vcl', 'cache', 'paramset', 'message')

void t.test('an id parses back to its number, and for no other kind', (t) => {
  fc.assert(
    fc.property(kinds, kinds, numbers, (kind, other, number) => {
      const id = toObjectId(kind, number)
      t.match(id, /^[0-9a-f]{24}$/)
      t.equal(parseObjectId(kind, id), number)
      if (other !== kind) t.equal(parseObjectId(other, id), undefined)
      t.equal(parseCommitId(id), undefined)
    }),
  )
  t.end()
})

void t.test('a commit id encodes a file and a version', (t) => {
  const files = fc.integer({ min: 1, max: 2 ** 48 })
  const versions = fc.integer({ min: 1, max: 2 ** 32 - 1 })
  fc.assert(
    fc.property(files, versions, (fileId, version) => {
      t.same(parseCommitId(toCommitId({ fileId, version })), { fileId, version })
    }),
  )
  t.end()
})

void t.test('no other text is an id', (t) => {
  for (const text of [
    '',
    '1',
    'c0',
    'C00000000000000000000001',
    `c0${'0'.repeat(22)}`,
    `c0${'f'.repeat(22)}`,
  ])
    t.equal(parseObjectId('cache', text), undefined, text)
  fc.assert(fc.property(fc.string(), (text) => parseObjectId('cache', text) === undefined))
  t.end()
})
