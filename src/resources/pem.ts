/** Splits PEM (RFC 7468) line by line: in linear time for any text. */

interface PemBlock {
  /** For example `CERTIFICATE`. */
  readonly label: string
  /** Includes its first and last line and a trailing line feed. */
  readonly text: string
}

/** Text around the blocks and a block without an end are skipped. */
export function splitPem(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { readonly label: string; readonly lines: string[] } | null = null
  for (const line of text.split('\n').map((one) => one.trim())) {
    const label = readLabel(line, 'BEGIN')
    if (label !== null) open = { label, lines: [] }
    open?.lines.push(line)
    if (open === null || readLabel(line, 'END') !== open.label) continue
    blocks.push({ label: open.label, text: `${open.lines.join('\n')}\n` })
    open = null
  }
  return blocks
}

function readLabel(line: string, word: 'BEGIN' | 'END'): string | null {
  const [start, end] = [`-----${word} `, '-----']
  if (!line.startsWith(start) || !line.endsWith(end)) return null
  return line.slice(start.length, -end.length)
}
