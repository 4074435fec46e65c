/** Comma-separated values (RFC 4180), with cells escaped that spreadsheets would run as formulas (docs/behaviour.md, Output). */

/** Lines end with CR LF. A null header omits the header line, for rows that continue earlier ones. */
export function formatCsv(
  header: readonly string[] | null,
  rows: readonly (readonly string[])[],
): string {
  const lines = header === null ? rows : [header, ...rows]
  return lines.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')
}

function formatCell(text: string): string {
  const harmless = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
