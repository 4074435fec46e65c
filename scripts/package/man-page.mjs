/** A manual page of what a program prints for `--help`: the same words, as sections and entries. Pure. */

/** Printed as they stand: columns and commands. */
const verbatim = /^(?:Exit codes|Example)$/

/** `date`: seconds since 1970. */
export function printManPage({ name, section, summary, help, version, writtenAt }) {
  const date = new Date(writtenAt * 1000).toISOString().slice(0, 10)
  const [usage, ...parts] = help.trimEnd().split(/\n\n+/)
  const first = usage.replace(/^Usage: /, '').replaceAll(/^ +/gm, '')
  return [
    `.TH ${name.toUpperCase()} ${section} ${date} "cachefleet ${version}"`,
    `.SH NAME\n${name} \\- ${escapeText(summary)}`,
    `.SH SYNOPSIS\n.nf\n${escapeText(first)}\n.fi`,
    '.SH DESCRIPTION',
    ...joinHeads(parts).map(printPart),
    '',
  ].join('\n')
}

/** A head that stands alone belongs to what follows it. */
function joinHeads(parts) {
  const joined = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (last !== undefined && /^[A-Z].*[.:]$/.test(last) && /^[A-Z][a-z ]*:/.test(last))
      joined[joined.length - 1] = `${last}\n${part}`
    else joined.push(part)
  }
  return joined
}

function printPart(part) {
  const [, title, rest] = /^([A-Z][a-z]*(?: [a-z]+)?):\s?([^]*)$/.exec(part) ?? []
  if (title === undefined) return printText(part)
  const head = `.SH ${title.toUpperCase()}`
  return verbatim.test(title)
    ? `${head}\n.nf\n${escapeText(rest.replace(/^\n/, ''))}\n.fi`
    : `${head}\n${printText(rest)}`
}

/** Paragraphs, and entries: what is indented by two, and what is further in below it. */
function printText(text) {
  const lines = []
  for (const line of text.split('\n')) {
    if (/^ {2}\S/.test(line)) {
      const [term, ...about] = line.trim().split('  ')
      const summary = about.join('  ').trim()
      lines.push('.TP', `.B ${escapeText(term)}`, ...(summary ? [escapeText(summary)] : []))
    } else if (line.startsWith(' ')) lines.push(escapeText(line.trim()))
    else if (line !== '') lines.push(...(lines.length === 0 ? ['.PP'] : []), escapeText(line))
  }
  return lines.join('\n')
}

function escapeText(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')
    .replaceAll(/[^\n -~]/gu, (letter) => `\\[u${hexOf(letter)}]`)
}

/** As roff names a letter. */
function hexOf(letter) {
  return letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')
}
