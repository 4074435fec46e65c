/**
 * Reads of the rows of one key, for callers that may be many at a time, as when a whole fleet says hello: those within some
 * milliseconds share a statement, which takes a fraction of the time of one for each.
 */
import type { Compilable } from 'kysely'
import { groupBy } from '../../group-by.js'
import { gatherCalls } from '../../runtime/gathered-calls.js'
import { writeKeys } from './given-rows.js'
import { prepareQuery } from './prepared-query.js'
import type { Queries } from './store.js'

type GatheredRead<Key, Row> = (queries: Queries, key: Key) => Promise<readonly Row[]>

/** A thousand hellos a second make sets of eight. */
const waitMs = 8
/** Keys per statement: some hundred microseconds. */
const maxKeys = 256

/**
 * `build` selects the rows of a list of keys, its only parameter (`listIds`, `listTexts`); `keyOf` tells whose a row is. In a
 * transaction nobody is waited for.
 */
export function gatherReads<Key extends number | string, Row>(
  build: (queries: Queries) => Compilable<Row>,
  keyOf: (row: Row) => Key,
): GatheredRead<Key, Row> {
  const readRows = prepareQuery(build)
  const gathered = new WeakMap<Queries, (key: Key) => Promise<readonly Row[]>>()

  return (queries, key) => {
    if (queries.isTransaction) return readRows(queries, [writeKeys([key])])
    const read = gathered.get(queries) ?? gather(queries)
    gathered.set(queries, read)
    return read(key)
  }

  function gather(queries: Queries): (key: Key) => Promise<readonly Row[]> {
    return gatherCalls<Key, readonly Row[]>({
      waitMs,
      most: maxKeys,
      carryOut: async (keys) => {
        const rows = groupBy(await readRows(queries, [writeKeys(keys)]), keyOf)
        return keys.map((key) => rows.get(key) ?? [])
      },
    })
  }
}
