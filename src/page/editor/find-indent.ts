/** How a file is indented already: what is typed into it should look like its other lines. */

const usual = '    '
/** Continued lines and comments are indented as it pleases: the first lines tell, and the narrowest step counts. */
const readLines = 400
const widest = 8

/** A tab, or the spaces of one step; of a text without indented lines four. */
export function findIndent(text: string): string {
  let tabs = 0
  let spaces = 0
  let narrowest = widest + 1
  for (const line of text.split('\n', readLines)) {
    const [indent = ''] = /^[\t ]*/.exec(line) ?? []
    // A blank line, or the left edge of a block comment.
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
