/** Reads what has many ids: PostgreSQL has no empty `in ()`, and both databases have a most of parameters. */

/** Ids a statement: far below what either database takes. */
const idsPerStatement = 1000

export async function inPieces<Row>(
  ids: readonly number[],
  read: (ids: number[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < ids.length; start += idsPerStatement)
    rows.push(...(await read(ids.slice(start, start + idsPerStatement))))
  return rows
}
