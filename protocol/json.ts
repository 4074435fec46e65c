/** Reads members of the cache's JSON: takes `unknown`, returns a typed value or throws a `garbled` error. */

import { expectJson, garbledAnswer } from './command.js'
import type { Reply } from './frame.js'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readObject(value: unknown, command: string): JsonObject {
  if (isJsonObject(value)) return value
  throw garbledAnswer(command, 'an object is missing')
}

/** For commands whose reply is a list of objects. */
export function expectRows(reply: Reply, command: string): readonly JsonObject[] {
  return expectJson(reply, command).payload.map((item) => readObject(item, command))
}

export function readString(record: JsonObject, key: string, command: string): string {
  const value = record[key]
  if (typeof value === 'string') return value
  throw garbledAnswer(command, `the text "${key}" is missing`)
}

export function readNumber(record: JsonObject, key: string, command: string): number {
  const value = record[key]
  if (typeof value === 'number') return value
  throw garbledAnswer(command, `the number "${key}" is missing`)
}

/** Returns null if the value is absent or of another type. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The strings of a list; other members are dropped. */
export function readStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
