/** Reads one step of a test file, except repeats: exactly one action, and the expectations for a request. */
import { FleetError } from '../errors.js'
import { handlings } from '../resources/logged-transaction.js'
import { parseBanExpression } from '../vcl/ban-expression.js'
import type { YamlPath } from '../yaml-lines.js'
import { readHeaderExpectations, readHeaders, readOptional } from './read-headers.js'
import {
  advanceMostSeconds,
  type AnswerExpectation,
  type StepAction,
  type TestRequest,
} from './test-file.js'
import { show, type ValueReader, type Values } from './value-reader.js'

const kinds = ['request', 'ban', 'purge', 'advance', 'backend', 'repeat'] as const
const keys = [...kinds, 'expect', 'health', 'steps']

/** Null: the step has a problem, which is recorded. */
export function readAction(reader: ValueReader, value: unknown, path: YamlPath): StepAction | null {
  const step = reader.map(value, path, keys)
  const kind = step === null ? null : readKind(reader, step, path)
  if (step === null || kind === null) return null
  const given = step[kind]
  const at = [...path, kind]
  switch (kind) {
    case 'request': {
      const expect = readExpect(reader, step['expect'], [...path, 'expect'])
      return { kind, request: readRequest(reader, given, at), expect }
    }
    case 'ban':
      return { kind, expression: readBan(reader, given, at) }
    case 'purge':
      return readPurge(reader, given, at)
    case 'advance':
      return { kind, seconds: readSeconds(reader, given, at) }
    case 'backend': {
      const health = reader.oneOf(step['health'], [...path, 'health'], ['sick', 'healthy'])
      return { kind: 'health', backend: reader.text(given, at), health: health ?? 'healthy' }
    }
  }
}

type StepKind = Exclude<(typeof kinds)[number], 'repeat'>

function readKind(reader: ValueReader, step: Values, path: YamlPath): StepKind | null {
  const [kind, second] = kinds.filter((one) => one in step)
  if (kind === undefined || kind === 'repeat' || second !== undefined) {
    const got = kind === undefined ? 'none' : `${kind} and ${second ?? ''}`
    reader.add(path, `a step has exactly one of ${kinds.join(', ')}; this one has ${got}`)
    return null
  }
  const stranger = companions.find(([key, owner]) => key in step && owner !== kind)
  if (stranger === undefined) return kind
  const [key, owner] = stranger
  reader.add([...path, key], `it stands beside ${owner}, and not beside ${kind}`)
  return null
}

/** Keys that belong to a kind of step. */
const companions = [
  ['expect', 'request'],
  ['health', 'backend'],
  ['steps', 'repeat'],
] as const

function readSeconds(reader: ValueReader, value: unknown, path: YamlPath): number {
  return reader.number(value, path, { least: 0, most: advanceMostSeconds, isWhole: false })
}

function readBan(reader: ValueReader, value: unknown, path: YamlPath): string {
  const expression = reader.text(value, path)
  try {
    if (typeof value === 'string') parseBanExpression(expression)
  } catch (error) {
    if (!(error instanceof FleetError)) throw error
    reader.add(path, error.message)
  }
  return expression
}

function readPurge(reader: ValueReader, value: unknown, path: YamlPath): StepAction | null {
  const text = reader.text(value, path)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return { kind: 'purge', url }
  reader.add(path, `expected an absolute URL such as http://www.example/, got ${show(value)}`)
  return null
}

const requestKeys = ['url', 'method', 'host', 'headers', 'body', 'httpVersion']
const versions = ['1.0', '1.1'] as const
/** A word in the first line of a request. */
const wordForm = /^[!-~\x80-\uffff]{1,8192}$/
const methodForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

function readRequest(reader: ValueReader, value: unknown, path: YamlPath): TestRequest {
  const given = reader.map(value, path, requestKeys) ?? { url: '/' }
  const word = (key: string, form: RegExp, fallback: string): string => {
    if (given[key] === undefined) return fallback
    const text = reader.text(given[key], [...path, key])
    if (text !== '' && form.test(text)) return text
    reader.add([...path, key], `${show(text)} cannot stand in the first line of a request`)
    return fallback
  }
  if (given['url'] === undefined) reader.add(path, 'url is missing, such as /')
  const host = given['host'] === undefined ? null : reader.text(given['host'], [...path, 'host'])
  if (host !== null && /[^\t -~\x80-\uffff]/.test(host))
    reader.add([...path, 'host'], `${show(host)} cannot stand in a header`)
  // YAML reads 1.0 as a number.
  const version = { 1: '1.0', 1.1: '1.1' }[Number(given['httpVersion'] ?? 1.1)]
  return {
    url: word('url', wordForm, '/'),
    method: word('method', methodForm, 'GET'),
    host,
    headers: readHeaders(reader, given['headers'], [...path, 'headers']),
    body: given['body'] === undefined ? '' : reader.text(given['body'], [...path, 'body']),
    httpVersion:
      reader.oneOf(version ?? given['httpVersion'], [...path, 'httpVersion'], versions) ?? '1.1',
  }
}

const expectKeys = ['status', 'headers', 'body', 'handling', 'backend', 'backendRequest']

function readExpect(reader: ValueReader, value: unknown, path: YamlPath): AnswerExpectation {
  const given = value === undefined ? {} : (reader.map(value, path, expectKeys) ?? {})
  const at = (key: string): YamlPath => [...path, key]
  const { status, handling, backend, backendRequest } = given
  const statusBounds = { least: 100, most: 999 }
  return {
    status: status === undefined ? null : reader.number(status, at('status'), statusBounds),
    headers: readHeaderExpectations(reader, given['headers'], at('headers')),
    body: readOptional(reader, given['body'], at('body')),
    handling: handling === undefined ? null : reader.oneOf(handling, at('handling'), handlings),
    ...(backend === undefined
      ? {}
      : { backend: backend === null ? null : reader.text(backend, at('backend')) }),
    backendRequest:
      backendRequest === undefined
        ? null
        : readBackendRequest(reader, backendRequest, at('backendRequest')),
  }
}

function readBackendRequest(
  reader: ValueReader,
  value: unknown,
  path: YamlPath,
): AnswerExpectation['backendRequest'] {
  const given = reader.map(value, path, ['url', 'headers']) ?? {}
  return {
    url: readOptional(reader, given['url'], [...path, 'url']),
    headers: readHeaderExpectations(reader, given['headers'], [...path, 'headers']),
  }
}
