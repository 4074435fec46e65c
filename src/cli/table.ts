/** A table for people: columns by two blanks, no lines; colour only where asked. */
import Table from 'cli-table3'
import { toPrintableLine } from './printable-text.js'

const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** What a state means at a glance (choices: 2, agents and deployments). */
const green = new Set(['Running', 'Active', 'applied', 'healthy'])
const red = new Set(['Failing', 'Down', 'Error', 'failed', 'sick'])
const yellow = new Set(['Degraded', 'Orphan', 'Deploying', 'Locked', 'wanted', 'applying'])

export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { colour }: { readonly colour: boolean },
): string {
  const table = new Table({
    chars: noLines,
    style: { 'padding-left': 0, 'padding-right': 0, head: colour ? ['bold'] : [], border: [] },
    head: [...titles],
  })
  for (const row of rows) table.push(row.map((cell) => paint(toPrintableLine(cell), colour)))
  const lines = table.toString().split('\n')
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function paint(cell: string, colour: boolean): string {
  if (!colour) return cell
  if (green.has(cell)) return `\x1b[32m${cell}\x1b[39m`
  if (red.has(cell)) return `\x1b[31m${cell}\x1b[39m`
  return yellow.has(cell) ? `\x1b[33m${cell}\x1b[39m` : cell
}
