/** Converts SQLite's rows from lists of values to objects. */

/** A prepared statement that returns raw rows. */
interface RawStatement {
  columns(): readonly { readonly name: string }[]
}

/** The library's own objects take twice as long. */
export function prepareRow(statement: RawStatement): (values: unknown) => unknown {
  let names: readonly string[] = []
  return (raw) => {
    const values = raw as readonly unknown[] // from a raw statement
    // The first row; or a later migration widened a `select *`.
    if (values.length !== names.length) names = statement.columns().map(({ name }) => name)
    const row: Record<string, unknown> = {}
    names.forEach((name, at) => {
      row[name] = values[at]
    })
    return row
  }
}
