/** Reads a settings file, JSON or YAML. Its values get the form of flags and variables, so that all three are parsed alike. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Schema } from './schema.js'

/** Returns values by the names of the schema, without null values. Throws an Error that describes the fault. */
export function readSettingsFile(file: string, schema: Schema): Readonly<Record<string, string>> {
  const names = nameSettings(schema)
  const values: Record<string, string> = {}
  for (const [key, value] of Object.entries(parseSettings(file))) {
    const name = names.get(key)
    if (name === undefined)
      throw new Error(`${key} is not a setting; --print-config prints all names`)
    if (name in values) throw new Error(`${key} is there twice`)
    if (value !== null) values[name] = printSetting(key, value)
  }
  return values
}

/** Maps both the name of a setting and that of its flag to the setting. */
function nameSettings(schema: Schema): ReadonlyMap<string, string> {
  const names = Object.entries(schema).map(([name, { arg }]) => [
    [name, name],
    [arg ?? name, name],
  ])
  return new Map(names.flat() as [string, string][])
}

/** Files are YAML unless their name ends in `.json`; JSON text is valid YAML, too. */
function parseSettings(file: string): object {
  const text = readFileSync(file, 'utf8')
  const content: unknown = file.endsWith('.json') ? JSON.parse(text) : parseYaml(text)
  if (content === null) return {}
  if (typeof content === 'object' && !Array.isArray(content)) return content
  throw new Error('it must hold settings by name, such as heartbeat: 5')
}

/** Loads the YAML parser only when a file is read: its 70 modules would cost every daemon 6 MB and about 30 ms. */
function parseYaml(text: string): unknown {
  const yaml = createRequire(import.meta.url)('yaml') as typeof Yaml // the package's own types
  return yaml.parse(text)
}

function printSetting(key: string, value: unknown): string {
  const members: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (members.every((member) => ['string', 'number', 'boolean'].includes(typeof member)))
    return members.map(String).join(',')
  throw new Error(`${key} must be a text, a number, true or false, or a list of these`)
}
