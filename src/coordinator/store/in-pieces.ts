/** Reads or writes many rows in pieces: PostgreSQL has no empty `in ()`, and both databases limit the number of parameters. */

/**
 * Items per statement, of at most 8 parameters each: SQLite allows 32,766. A statement holds up the event loop; writing
 * a row of many columns takes it some 20 µs.
 */
const itemsPerStatement = 500

/** Returns the rows of all pieces, in order. */
export async function inPieces<Item, Row>(
  items: readonly Item[],
  run: (piece: Item[]) => Promise<readonly Row[]>,
  most = itemsPerStatement,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < items.length; start += most)
    rows.push(...(await run(items.slice(start, start + most))))
  return rows
}
