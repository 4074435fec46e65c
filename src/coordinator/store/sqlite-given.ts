/**
 * `given_rows` of SQLite, which runs in this process: a statement reads its rows where they are. Given as JSON, each row would be
 * parsed anew for each of its columns, which takes three times as long.
 */
import { GivenRows, givenColumns } from './given-rows.js'
import type { SqliteFile } from './sqlite-library.js'

/** Returns the parameters as the library takes them. Call right before the statement runs. */
export type BindGiven = (parameters: readonly unknown[]) => readonly unknown[]

/** Defines the table function. Statements with given rows run one at a time, each to its end. */
export function defineGivenRows(file: SqliteFile): BindGiven {
  let given: readonly GivenRows[] = []
  file.table('given_rows', {
    parameters: ['place'],
    columns: givenColumns,
    *rows(place) {
      // The library copies it before it takes the next row.
      const row: (number | string | null)[] = givenColumns.map(() => null)
      for (const values of given[Number(place)]?.rows ?? []) {
        for (let at = 0; at < values.length; at += 1) row[at] = values[at] ?? null
        yield row
      }
    },
  })
  return (parameters) => {
    given = parameters.filter((one) => one instanceof GivenRows)
    if (given.length === 0) return parameters
    const places = new Map(given.map((rows, place) => [rows as unknown, place]))
    return parameters.map((one) => places.get(one) ?? one)
  }
}
