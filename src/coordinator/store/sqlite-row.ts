/** Converts SQLite's rows from lists of values to objects. */

/** A prepared statement that returns raw rows. */
interface RawStatement {
  columns(): readonly { readonly name: string }[]
}

/** The library builds objects key by key, which takes twice as long: these are copies of an object with all keys. */
export function prepareRow(statement: RawStatement): (values: unknown) => unknown {
  let names: readonly string[] = []
  let blank: Readonly<Record<string, unknown>> = {}
  return (raw) => {
    const values = raw as readonly unknown[] // from a raw statement
    // The first row; or a later migration widened a `select *`.
    if (values.length !== names.length) {
      names = statement.columns().map(({ name }) => name)
      blank = Object.fromEntries(names.map((name) => [name, null]))
    }
    const row: Record<string, unknown> = { ...blank }
    names.forEach((name, at) => {
      row[name] = values[at]
    })
    return row
  }
}
