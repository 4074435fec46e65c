/** Reads the headers of a test file: sent and expected ones. */
import type { YamlPath } from '../yaml-lines.js'
import type { HeaderExpectations, Headers, TextExpectation } from './test-file.js'
import { show, type ValueReader } from './value-reader.js'

/** RFC 9110, 5.6.2. */
const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126}$/
const unsendable = /[^\t -~\x80-\u{10ffff}]/u

/** A list sends the header several times. */
export function readHeaders(reader: ValueReader, value: unknown, path: YamlPath): Headers {
  return listEntries(reader, value, path).flatMap(([name, given]) => {
    const values: readonly unknown[] = Array.isArray(given) ? given : [given]
    return values.map((one): readonly [string, string] => {
      const text = reader.plainText(one, [...path, name])
      if (unsendable.test(text)) reader.add([...path, name], `${show(text)} cannot be sent`)
      return [name, text]
    })
  })
}

export function readHeaderExpectations(
  reader: ValueReader,
  value: unknown,
  path: YamlPath,
): HeaderExpectations {
  return listEntries(reader, value, path).map(([name, given]) => [
    name,
    reader.expectation(given, [...path, name]),
  ])
}

/** Null: absent, nothing is expected. */
export function readOptional(
  reader: ValueReader,
  value: unknown,
  path: YamlPath,
): TextExpectation | null {
  return value === undefined ? null : reader.expectation(value, path)
}

function listEntries(
  reader: ValueReader,
  value: unknown,
  path: YamlPath,
): readonly (readonly [string, unknown])[] {
  if (value === undefined) return []
  const entries = Object.entries(reader.anyMap(value, path) ?? {})
  for (const [name] of entries)
    if (!nameForm.test(name)) reader.add([...path, name], `${show(name)} is not a header's name`)
  return entries
}
