/** Parses text about bans, processes, storage and commands, from releases without `-j` (before 6.0.2 and 6.2). */

import { garbledAnswer, textCommand, type Command } from '../command.js'
import { readTextList } from '../long-list.js'
import type { Ban } from '../commands/ban.js'
import {
  readChildState,
  type ChildState,
  type HelpEntry,
  type ProcessIds,
  type Storage,
} from '../commands/process.js'

export function banListText(): Command<readonly Ban[]> {
  return {
    name: 'ban.list',
    line: 'ban.list',
    parse: (reply, name) => readTextList(reply, name, parseBanListText),
  }
}

export function childStatusText(): Command<ChildState> {
  return textCommand('status', 'status', parseStatusText)
}

export function processIdsText(): Command<ProcessIds> {
  return textCommand('pid', 'pid', parsePidText)
}

export function storageListText(): Command<readonly Storage[]> {
  return textCommand('storage.list', 'storage.list', parseStorageListText)
}

export function helpText(): Command<readonly HelpEntry[]> {
  return textCommand('help', 'help', parseHelpText)
}

/** One ban per line: time, references, `C` if completed (else `-`, a blank in 4.1), debugging flags and a pointer, the terms. */
const banPattern = /^\s*(\d+\.\d+) +(\d+) ([C -])(?:[RO E-]+ 0x[0-9a-f]+ )? {2}(.*)$/

/** Skips lines that start with blanks, which are the cache's debugging notes. */
export function parseBanListText(text: string, hasHeading = true): readonly Ban[] {
  const lines = text.split('\n')
  if (hasHeading && !lines.shift()?.startsWith('Present bans'))
    throw garbledAnswer('ban.list', 'not a list of bans')
  return lines.filter((line) => /^\S/.test(line)).map(parseBanLine)
}

function parseBanLine(line: string): Ban {
  const [, time, references, mark, expression] = banPattern.exec(line) ?? []
  if (expression === undefined)
    throw garbledAnswer('ban.list', `not a ban: ${JSON.stringify(line.slice(0, 80))}`)
  return {
    timeSeconds: Number(time),
    references: Number(references),
    isCompleted: mark === 'C',
    expression,
  }
}

export function parseStatusText(text: string): ChildState {
  return readChildState(/^Child in state (.*)$/m.exec(text)?.[1] ?? null, 'status')
}

export function parsePidText(text: string): ProcessIds {
  const master = /^Master: +(\d+)/m.exec(text)?.[1]
  const worker = /^Worker: +(\d+)/m.exec(text)?.[1]
  if (master === undefined) throw garbledAnswer('pid', 'it names no master')
  return { master: Number(master), worker: worker === undefined ? null : Number(worker) }
}

/** One `storage.s0 = malloc` per line. */
export function parseStorageListText(text: string): readonly Storage[] {
  if (!text.startsWith('Storage devices'))
    throw garbledAnswer('storage.list', 'not a list of stores')
  return [...text.matchAll(/^[ \t]*storage\.(\S+) = (\S+)/gm)].map(([, name = '', kind = '']) => ({
    name,
    kind,
  }))
}

/** One syntax per line; a `-j` among its flags means JSON support (but see `supportsJson`: 6.0 is wrong about backend.list). */
export function parseHelpText(text: string): readonly HelpEntry[] {
  return text
    .split('\n')
    .filter((line) => /^[a-z]/.test(line))
    .map((syntax) => ({
      name: syntax.split(' ', 1)[0] ?? '',
      syntax: syntax.trim(),
      hasJson: /[[|]-j/.test(syntax),
    }))
}
