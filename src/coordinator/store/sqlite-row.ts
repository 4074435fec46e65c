/** Rows of SQLite as objects, from the lists of values that it answers. */

/** A prepared statement that answers raw rows. */
interface RawStatement {
  columns(): readonly { readonly name: string }[]
}

/** The library's own objects are built key by key and take twice the time: ours are copies of one that has all keys. */
export function prepareRow(statement: RawStatement): (values: unknown) => unknown {
  let names: readonly string[] = []
  let blank: Readonly<Record<string, unknown>> = {}
  return (raw) => {
    const values = raw as readonly unknown[] // what a raw statement gives
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

export function* mapEach(
  rows: IterableIterator<unknown>,
  toRow: ((row: unknown) => unknown) | null,
): IterableIterator<unknown> {
  for (const row of rows) yield toRow ? toRow(row) : row
}
