/** Asks for many rows, or writes them, piece by piece: PostgreSQL has no empty `in ()`, and both databases have a most of parameters. */

/** Items a statement, of at most 8 parameters each: SQLite takes 32,766. */
const itemsPerStatement = 1000

/** Answers what each piece answers, in order. */
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
