/** Frequent queries: building and compiling one takes longer than executing it. */
import type { Compilable, CompiledQuery, DialectAdapter } from 'kysely'
import type { Queries } from './store.js'

type PreparedQuery<Row> = (queries: Queries, parameters: readonly unknown[]) => Promise<Row[]>

/**
 * `build` is called once per store and gives each parameter any value of its type. `parameters` are the real values, in the
 * order of the query's text.
 */
export function prepareQuery<Row>(
  build: (queries: Queries) => Compilable<Row>,
): PreparedQuery<Row> {
  // A store and its transactions share the adapter.
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
