/** Parameters (varnish-cli(7), mgt_param.c). They survive a restart of the child, but not of the manager. */

import { expectNote, expectOk, garbledAnswer, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import { expectRows, isJsonObject, readString, readStrings, textOrNull } from '../json.js'
import { commandLine } from '../quote.js'
import type { Reply } from '../frame.js'

/** Seconds, bytes and counts as numbers; memory pools as `{min_pool, max_pool, max_age}`; everything else as text. */
type ParamValue = number | boolean | string | Readonly<Record<string, unknown>>

export interface Param {
  readonly name: string
  /** False if this build lacks the parameter; then nothing else is known. */
  readonly isImplemented: boolean
  readonly value: ParamValue | null
  /** For example `seconds`, `bytes`, `bool`; null for plain numbers and texts. */
  readonly units: string | null
  /** In input form (`48k`, `on`), unlike `value`, so the two cannot be compared. */
  readonly default: string | null
  readonly minimum: string | null
  readonly maximum: string | null
  readonly description: string | null
  /** For example `must_restart`, `must_reload`, `delayed_effect`, `experimental`. */
  readonly flags: readonly string[]
}

export function paramShow(param: string): Command<Param> {
  return {
    name: 'param.show',
    line: commandLine('param.show', ['-j', checkParam('param.show', param)]),
    parse: parseOneParam,
  }
}

/** All parameters: 46 kB on 7.1, close to its default cli_limit of 48k. */
export function paramShowAll(): Command<readonly Param[]> {
  return { name: 'param.show', line: 'param.show -j', parse: parseParams }
}

/** Returns the cache's note, usually empty: "Change will take effect when VCL script is reloaded". */
export function paramSet(param: string, value: string): Command<string> {
  const words = [checkParam('param.set', param), value]
  return { name: 'param.set', line: commandLine('param.set', words), parse: expectNote }
}

/** Resets to the default. From 6.0.5 and 6.2. */
export function paramReset(param: string): Command<void> {
  const words = [checkParam('param.reset', param)]
  return { name: 'param.reset', line: commandLine('param.reset', words), parse: expectOk }
}

/** Excludes `changed`, for which the cache would print a list. */
export function checkParam(command: string, param: string): string {
  if (/^[a-z][a-z0-9_]{0,99}$/.test(param) && param !== 'changed') return param
  throw new ManagementPortError(
    'refused',
    `refused before sending: ${JSON.stringify(param.slice(0, 80))} is not a parameter: its name has lower-case letters, digits and _ only`,
    { command },
  )
}

function parseOneParam(reply: Reply, name: string): Param {
  const [param] = parseParams(reply, name)
  if (!param) throw garbledAnswer(name, 'no parameter in it')
  return param
}

function parseParams(reply: Reply, name: string): readonly Param[] {
  return expectRows(reply, name).map((row) => {
    return {
      name: readString(row, 'name', name),
      isImplemented: row['implemented'] === true,
      value: readValue(row['value']),
      units: textOrNull(row['units']),
      default: textOrNull(row['default']),
      minimum: textOrNull(row['minimum']),
      maximum: textOrNull(row['maximum']),
      description: textOrNull(row['description']),
      flags: readStrings(row['flags']),
    }
  })
}

function readValue(value: unknown): ParamValue | null {
  const isPlain =
    typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
  return isPlain || isJsonObject(value) ? value : null
}
