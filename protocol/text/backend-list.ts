/**
 * `backend.list` as text, for releases without `-j` (before 6.1, and all of 6.0). Columns: name, admin, probe, and from 5.0 a date. Probe
 * is `Healthy 5/5`, `Sick 0/8` or `Healthy (no probe)`; in 6.1 `5/5 good`, `0/8 bad` or `healthy`; from 6.2 counts and health are separate
 * columns (cache_director.c, do_list; cache_backend_cfg.c in 4.1 and 5).
 */

import { garbledAnswer, textCommand, type Command } from '../command.js'
import {
  backendListLine,
  judgeHealth,
  type Backend,
  type BackendListOptions,
} from '../commands/backend.js'

export function backendListText(options: BackendListOptions = {}): Command<readonly Backend[]> {
  return textCommand('backend.list', backendListLine([], options), parseBackendListText)
}

/** Skips indented lines, which are the diagrams of `-p`; 6.1 does not indent the first of them. */
export function parseBackendListText(text: string, name = 'backend.list'): readonly Backend[] {
  const [heading, ...lines] = text.split('\n')
  if (!heading?.startsWith('Backend name')) throw garbledAnswer(name, 'not a list of backends')
  return lines
    .filter((line) => /^\S/.test(line) && !line.startsWith('Current states '))
    .map((line) => parseRow(line, name))
}

function parseRow(line: string, command: string): Backend {
  const date = /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.exec(line.trim())?.[0]
  const found = /^(\S+)\s+([a-z]+)\s+(.*)$/s.exec(line)
  const [, name, adminHealth, probe = ''] = found ?? []
  const health = /\b(healthy|sick|good|bad)\b/i.exec(probe)?.[1]
  if (name === undefined || adminHealth === undefined || health === undefined)
    throw garbledAnswer(command, `not a row of backends: ${JSON.stringify(line.slice(0, 80))}`)
  const [, good = '0', total = '0'] = /(\d{1,9})\/(\d{1,9})/.exec(probe) ?? []
  return {
    name,
    type: null,
    adminHealth,
    good: Number(good),
    total: Number(total),
    isHealthy: judgeHealth(adminHealth, health),
    lastChangeSeconds: date === undefined ? null : Date.parse(date) / 1000,
    details: null,
  }
}
