/** Queries that are asked for all the time: building and compiling one takes longer than the database needs to answer it. */
import type { Compilable, CompiledQuery } from 'kysely'
import type { Queries } from './store.js'

type PreparedQuery<Row> = (queries: Queries, parameters: readonly unknown[]) => Promise<Row[]>

/**
 * `build` is called once for each store or transaction, and gives each parameter some value of its type. `parameters` are the
 * real ones, in the order in which the query's text names them.
 */
export function prepareQuery<Row>(
  build: (queries: Queries) => Compilable<Row>,
): PreparedQuery<Row> {
  const compiled = new WeakMap<Queries, CompiledQuery<Row>>()
  return async (queries, parameters) => {
    let query = compiled.get(queries)
    if (!query) {
      query = build(queries).compile()
      compiled.set(queries, query)
    }
    if (query.parameters.length !== parameters.length)
      throw new Error(`${parameters.length} parameters are given to: ${query.sql}`)
    const { rows } = await queries.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
