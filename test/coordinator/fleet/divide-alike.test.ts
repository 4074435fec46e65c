/** Which rows are written together. */
import fc from 'fast-check'
import t from 'tap'
import { divideAlike } from '../../../src/coordinator/fleet/divide-alike.js'

type Key = 'a' | 'b' | 'c'

void t.test('ten rows with the same key are written together, and none is lost', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom<Key>('a', 'b', 'c'), { maxLength: 50 }), (keys) => {
      const rows = keys.map((key, at) => ({ key, at }))
      const { alike, others } = divideAlike(rows, ({ key }) => key)
      const all = [...alike.flat(), ...others]
      t.strictSame(
        all.toSorted((one, other) => one.at - other.at),
        rows,
      )
      const countOf = (wanted: string) => keys.filter((key) => key === wanted).length
      for (const list of alike)
        t.strictSame(new Set(list.map(({ key }) => key)), new Set([list[0].key]))
      t.ok(alike.every((list) => list.length === countOf(list[0].key) && list.length >= 10))
      t.ok(others.every(({ key }) => countOf(key) < 10))
    }),
    { examples: [9, 10, 11].map((count): [Key[]] => [Array<Key>(count).fill('a')]) },
  )
  t.end()
})
