/** A file of settings, JSON or YAML. Its values get the form of a flag or a variable, so that all three are read alike. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Schema } from './schema.js'

/** By the names of the schema; what is null is left out. Throws what is wrong, in words. */
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

/** A setting also answers to the name of its flag. */
function nameSettings(schema: Schema): ReadonlyMap<string, string> {
  const names = Object.entries(schema).map(([name, { arg }]) => [
    [name, name],
    [arg ?? name, name],
  ])
  return new Map(names.flat() as [string, string][])
}

/** YAML unless its name ends in `.json`: a JSON text is YAML, too. */
function parseSettings(file: string): object {
  const text = readFileSync(file, 'utf8')
  const content: unknown = file.endsWith('.json') ? JSON.parse(text) : parseYaml(text)
  if (content === null) return {}
  if (typeof content === 'object' && !Array.isArray(content)) return content
  throw new Error('it must hold settings by name, such as heartbeat: 5')
}

/** Loaded where there is a file to read: its 70 modules would cost each daemon 6 MB and some 30 ms for nothing. */
function parseYaml(text: string): unknown {
  const yaml = createRequire(import.meta.url)('yaml') as typeof Yaml // what the package declares of itself
  return yaml.parse(text)
}

function printSetting(key: string, value: unknown): string {
  const members: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (members.every((member) => ['string', 'number', 'boolean'].includes(typeof member)))
    return members.map(String).join(',')
  throw new Error(`${key} must be a text, a number, true or false, or a list of these`)
}
