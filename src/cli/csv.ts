/** Comma-separated values by RFC 4180; spreadsheets take no cell for a formula (docs/behaviour.md, Output). */

/** Lines end with CR LF. Null: rows that follow others. */
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
