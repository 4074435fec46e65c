/** Tells apart rows that one statement can write together. Pure. */
import { groupBy } from '../../group-by.js'

/** Of fewer rows, writing each is cheaper than a statement of their own. */
const leastAlike = 10

interface Divided<Row> {
  /** Rows with the same key, in lists of at least ten. */
  readonly alike: readonly (readonly [Row, ...Row[]])[]
  readonly others: readonly Row[]
}

export function divideAlike<Row>(rows: Iterable<Row>, keyOf: (row: Row) => string): Divided<Row> {
  const alike: (readonly [Row, ...Row[]])[] = []
  const others: Row[] = []
  for (const [first, ...rest] of groupBy(rows, keyOf).values())
    if (first !== undefined && rest.length + 1 >= leastAlike) alike.push([first, ...rest])
    else if (first !== undefined) others.push(first, ...rest)
  return { alike, others }
}
