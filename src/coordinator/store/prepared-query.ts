/** Queries that are asked for all the time: building and compiling one takes longer than the database needs to answer it. */
import type { Compilable, CompiledQuery, DialectAdapter } from 'kysely'
import type { Queries } from './store.js'

type PreparedQuery<Row> = (queries: Queries, parameters: readonly unknown[]) => Promise<Row[]>

/**
 * `build` is called once for each store, and gives each parameter some value of its type. `parameters` are the real ones, in the
 * order in which the query's text names them.
 */
export function prepareQuery<Row>(
  build: (queries: Queries) => Compilable<Row>,
): PreparedQuery<Row> {
  // The adapter is what a store and its transactions have in common.
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>()
  return async (queries, parameters) => {
    const { adapter } = queries.getExecutor()
    let query = compiled.get(adapter)
    if (!query) {
      query = build(queries).compile()
      compiled.set(adapter, query)
    }
    if (query.parameters.length !== parameters.length)
      throw new Error(`${parameters.length} parameters are given to: ${query.sql}`)
    const { rows } = await queries.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
