/** Reads the backend rules of a test. */
import type { YamlPath } from '../yaml-lines.js'
import { readHeaderExpectations, readHeaders, readOptional } from './read-headers.js'
import { delayMostMs, type BackendRule } from './test-file.js'
import type { ValueReader } from './value-reader.js'

const matchKeys = ['url', 'method', 'headers']
const respondKeys = ['status', 'headers', 'body', 'delayMs', 'close']

export function readBackends(
  reader: ValueReader,
  value: unknown,
): ReadonlyMap<string, readonly BackendRule[]> {
  if (value === undefined) return new Map()
  const entries = Object.entries(reader.anyMap(value, ['backends']) ?? {})
  return new Map(
    entries.map(([name, rules]) => {
      const path = ['backends', name]
      const list = reader.list(rules, path)
      return [name, list.map((rule, index) => readRule(reader, rule, [...path, index]))]
    }),
  )
}

function readRule(reader: ValueReader, value: unknown, path: YamlPath): BackendRule {
  const rule = reader.map(value, path, ['match', 'respond']) ?? {}
  const inMatch = [...path, 'match']
  const match = rule['match'] === undefined ? {} : reader.map(rule['match'], inMatch, matchKeys)
  const inRespond = [...path, 'respond']
  const given = rule['respond']
  const respond = given === undefined ? {} : (reader.map(given, inRespond, respondKeys) ?? {})
  const number = (key: string, fallback: number, least: number, most: number): number =>
    respond[key] === undefined
      ? fallback
      : reader.number(respond[key], [...inRespond, key], { least, most })
  const { body, close } = respond
  return {
    match: {
      url: readOptional(reader, match?.['url'], [...inMatch, 'url']),
      method: readOptional(reader, match?.['method'], [...inMatch, 'method']),
      headers: readHeaderExpectations(reader, match?.['headers'], [...inMatch, 'headers']),
    },
    respond: {
      status: number('status', 200, 200, 999),
      headers: readHeaders(reader, respond['headers'], [...inRespond, 'headers']),
      body: body === undefined ? '' : reader.text(body, [...inRespond, 'body']),
      delayMs: number('delayMs', 0, 0, delayMostMs),
      close: close === undefined ? false : reader.flag(close, [...inRespond, 'close']),
    },
  }
}
