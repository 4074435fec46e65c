/**
 * A simulated engine's reply: a text built in pieces with the engine's own indentation rule, and its bytes on the wire. Text is "latin1":
 * one character is one byte (vsb.c, vcli_proto.c VCLI_WriteResult).
 */

export class ReplyText {
  status = 200
  /** How long the manager's single thread is blocked before it sends this; Infinity until the child dies. */
  delayMs = 0
  /** True if the engine closes the connection after this reply. */
  closes = false
  #text = ''
  #isLineStart = true
  #indent = 0

  get text(): string {
    return this.#text
  }

  /** Appends a piece. A piece at the start of a line is indented; lines within a piece are not (vsb.c _vsb_indent). */
  out(piece: string): this {
    const indented =
      this.#isLineStart && this.#indent > 0 ? ' '.repeat(this.#indent) + piece : piece
    this.#text += indented
    // Kept, because the end of a text that was joined from many pieces can only be read by copying all of it.
    if (indented !== '') this.#isLineStart = indented.endsWith('\n')
    return this
  }

  indent(columns: number): this {
    this.#indent += columns
    return this
  }

  clear(): this {
    this.#text = ''
    this.#isLineStart = true
    return this
  }

  refuse(status: number, text: string): this {
    this.status = status
    return this.out(text)
  }

  /** `[ version, ["cmd", "-j", …], seconds` (vcli_serve.c VCLI_JSON_begin). */
  beginJson(version: number, words: readonly string[], nowMs: number): this {
    const command = words.map(quoteJson).join(', ')
    return this.out(`[ ${version}, [${command}], ${(nowMs / 1000).toFixed(3)}`).indent(2)
  }

  endJson(): this {
    return this.indent(-2).out('\n').out(']\n')
  }
}

export const unknownRequest = "Unknown request.\nType 'help' for more info.\n"

/** Converts our text to the engine's form, one character per byte, and back. */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
export const fromBytes = (text: string): string => Buffer.from(text, 'latin1').toString('utf8')

/** The bytes of one reply: 13 bytes of header, the body, and one LF that the length excludes. */
export function encodeReply(status: number, body: string): Buffer {
  return Buffer.from(`${encodeHeader(status, body.length)}${body}\n`, 'latin1')
}

/** `"%-3d %-8d\n"`. */
export function encodeHeader(status: number, lengthBytes: number): string {
  return `${String(status).padEnd(3)} ${String(lengthBytes).padEnd(8)}\n`
}

/** A JSON string as the engine writes it: bytes from 0x7f on are unchanged (vsb.c VSB_QUOTE_JSON). */
export function quoteJson(text: string): string {
  return `"${text.replace(/[\0-\x1f"\\]/g, escapeForJson)}"`
}

/**
 * A word as the manager forwards it to its child: without quotes, and escaped only if it contains a quote, a backslash, a control byte or a
 * byte from 0x7f on (vsb.c VSB_quote without flags). Blanks are unchanged.
 */
export function quoteBare(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, escapeBare)
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  // The command-line parser does not know this escape, so such an argument is a syntax error in the child.
  '\v': '\\v',
}

function escapeForJson(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function escapeBare(character: string): string {
  return shortEscapes[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
}

/**
 * Aligns rows of tab-separated cells in columns as wide as their widest cell; indented rows are unchanged (vte.c). Up to 7.3 a cell's width
 * includes its tab; from 7.4 on (`right`) a cell that starts with a vertical tab is right-aligned.
 */
export function alignColumns(rows: string, form: 'columns' | 'right' = 'columns'): string {
  const lines = rows.split('\n').slice(0, -1)
  const table = lines.filter((line) => !line.startsWith(' ')).map((line) => line.split('\t'))
  const columnCount = Math.max(0, ...table.map((cells) => cells.length))
  const tabWidth = form === 'columns' ? 1 : 0
  const sizeOf = (cell: string) => cell.replace('\v', '').length
  const widths = Array.from({ length: columnCount }, (_, column) =>
    Math.max(...table.map((cells) => sizeOf(cells[column] ?? '') + (column > 0 ? tabWidth : 0))),
  )
  const widest = Math.max(...table.map((cells) => sizeOf(cells.join('')) + cells.length - 1))
  const gaps = columnCount - 1 + tabWidth
  const gap = gaps === 0 ? 0 : Math.min(3, Math.max(1, Math.trunc((pageWidth - widest) / gaps)))
  const place = (cell: string, width: number) =>
    (cell.startsWith('\v') ? cell.slice(1).padStart(width) : cell.padEnd(width)) + ' '.repeat(gap)
  const pad = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === cells.length - 1 ? cell : place(cell, widths[column] ?? 0),
      )
      .join('')
  return lines.map((line) => `${line.startsWith(' ') ? line : pad(line.split('\t'))}\n`).join('')
}

const pageWidth = 80
