/**
 * `vcl.list` as text, for releases without `-j` (before 6.0.2 and 6.2): status, state and temperature (one word `auto/warm` up to 6.1),
 * references, name, then `-> target`, `(n labels)` or `(n return(vcl)s)`. Widths and spaces differ by release.
 */

import { garbledAnswer, type Command } from '../command.js'
import { readVclStatus, type VclRow } from '../commands/vcl.js'
import { readTextList } from '../long-list.js'

export function vclListText(): Command<readonly VclRow[]> {
  return {
    name: 'vcl.list',
    line: 'vcl.list',
    parse: (reply, name) => readTextList(reply, name, (text) => parseVclListText(text, name)),
  }
}

/** An empty list is an error, because it is also the reply if the child did not respond. */
export function parseVclListText(text: string, name = 'vcl.list'): readonly VclRow[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) throw garbledAnswer(name, 'it is empty, the child process gave none')
  return lines.map((line) => parseRow(line, name))
}

function parseRow(line: string, command: string): VclRow {
  const [status = '', ...words] = line.trim().split(/\s+/)
  const [state = '', temperature = '', busy = '', name = '', ...rest] = words
    .join(' ')
    .replace(/^([a-z]+)\//, '$1 ')
    .split(' ')
  if (!/^(?:\d+|-)$/.test(busy) || name === '')
    throw garbledAnswer(command, `not a row of VCLs: ${JSON.stringify(line.slice(0, 80))}`)
  return {
    name,
    status: readVclStatus(status, command),
    state,
    temperature,
    busy: busy === '-' ? null : Number(busy),
    ...readMarks(rest.join(' ')),
  }
}

function readMarks(marks: string): Pick<VclRow, 'labels' | 'label'> {
  const target = /-> (\S+)/.exec(marks)?.[1]
  const labels = Number(/\((\d+) labels?\)/.exec(marks)?.[1] ?? 0)
  if (target === undefined) return { labels, label: null }
  return { labels, label: { target, refs: Number(/\((\d+) return\(vcl\)/.exec(marks)?.[1] ?? 0) } }
}
