/** Detects the indentation of a file, so that new lines match the existing ones. */

const usual = '    '
/** Continuation lines and comments are indented freely: only the first lines are read, and the narrowest step counts. */
const readLines = 400
const widest = 8

/** Returns a tab or the spaces of one step; four spaces for a text without indented lines. */
export function findIndent(text: string): string {
  let tabs = 0
  let spaces = 0
  let narrowest = widest + 1
  for (const line of text.split('\n', readLines)) {
    const [indent = ''] = /^[\t ]*/.exec(line) ?? []
    // Skips blank lines and the left edge of block comments.
    if (indent.length === line.trimEnd().length || line[indent.length] === '*') continue
    if (indent.startsWith('\t')) tabs++
    else if (indent.length > 1) {
      spaces++
      narrowest = Math.min(narrowest, indent.length)
    }
  }
  if (tabs > spaces) return '\t'
  return narrowest > widest ? usual : ' '.repeat(narrowest)
}
