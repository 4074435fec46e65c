/**
 * The tables of docs/releases.md: what each release can do, by what its tests found (`dist/releases`), one row each; and what
 * releases do differently, by protocol/quirks.ts. Rows of releases that were not tested now stay as they are.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a column says of a release. */
const columns = [
  ['Tests', () => 'pass'],
  ['Process ids', ({ commands }) => commands.includes('pid')],
  ['`param.reset`', ({ commands }) => commands.includes('param.reset')],
  ['`vcl.deps`', ({ commands }) => commands.includes('vcl.deps')],
  ['Lists as JSON', ({ json }) => json.includes('vcl.list')],
  ['Backends as JSON', ({ json }) => json.includes('backend.list')],
  ['Several names to `vcl.discard`', ({ discardsSeveral }) => discardsSeveral],
  ['Backends of each VCL beside labels', ({ quirks }) => !quirks.includes('patternKillsChild')],
  ['Source of a label', ({ quirks }) => !quirks.includes('shownLabelKillsChild')],
  ['Bans on age and ttl', ({ quirks }) => !quirks.includes('lacksBanAges')],
  ['Counts soft purges', ({ quirks }) => !quirks.includes('countsHardPurgesOnly')],
  ['Stops at once', ({ quirks }) => !quirks.includes('waitsForReferences')],
]

/** `name`: of the release whose tests have passed. */
export async function writeReleasesPage(root, name) {
  const file = join(root, 'docs', 'releases.md')
  const { quirks } = await import(join(root, 'dist', 'protocol', 'quirks.js'))
  const before = readFileSync(file, 'utf8')
  const kept = new Map(listRows(before, '## What each can do').map((row) => [row[0], row]))
  const facts = JSON.parse(readFileSync(join(root, 'dist', 'releases', `${name}.json`), 'utf8'))
  kept.set(name, [name, ...columns.map(([, say]) => toCell(say(facts)))])
  const rows = [...kept.values()].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  const able = [['Release', ...columns.map(([title]) => title)], ...rows]
  const odd = [
    ['Releases', 'What they do', 'What is done about it', 'Source'],
    ...listQuirks(quirks),
  ]
  const after = replaceTable(replaceTable(before, '## What each can do', able), '## Quirks', odd)
  writeFileSync(file, after)
  spawnSync(join(root, 'node_modules', '.bin', 'oxfmt'), [file], { stdio: 'inherit' })
}

function listQuirks(quirks) {
  return Object.values(quirks).map(({ releases, fact, answer, source }) => {
    return [releases.map(describeRange).join(', '), fact, answer, source]
  })
}

function describeRange([from, before]) {
  if (before === null) return `${from} and later`
  return from === '0' ? `before ${before}` : `${from} to before ${before}`
}

function toCell(value) {
  return value === true ? 'yes' : value === false ? 'no' : value
}

/** Below a heading; without its head. */
function listRows(text, heading) {
  const lines = text.slice(text.indexOf(heading)).split('\n').slice(1)
  const start = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'))
  return start < 0 ? [] : lines.slice(start + 2, end < 0 ? undefined : end).map(toCells)
}

function toCells(line) {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function replaceTable(text, heading, rows) {
  const [head, ...others] = rows.map((row) => `| ${row.join(' | ')} |`)
  const table = [head, `|${' --- |'.repeat(rows[0].length)}`, ...others].join('\n')
  const at = text.indexOf(heading)
  const [start, end] = [text.slice(0, at), text.slice(at)]
  const old = /^\|.*(?:\n\|.*)*/m.exec(end)?.[0] ?? ''
  return start + end.replace(old, () => table)
}
