/**
 * Matches a text against a test's expectation. A regular expression may take exponential time, so it is aborted at a time limit and
 * then counts as no match: V8 checks for termination while it backtracks.
 */
import { Script, createContext } from 'node:vm'
import type { HeaderExpectations, Headers, TextExpectation } from '../test-files/test-file.js'

const matchLimitMs = 200

/** `text`: null when there is none. */
export function matchesText(expected: TextExpectation, text: string | null): boolean {
  if (expected.kind === 'absent') return text === null
  if (text === null) return false
  if (expected.kind === 'equals') return text === expected.text
  return expected.kind === 'contains'
    ? text.includes(expected.text)
    : matchesPattern(expected.text, text)
}

const sandbox = createContext({ pattern: '', text: '' })
const script = new Script('new RegExp(pattern).test(text)')

function matchesPattern(pattern: string, text: string): boolean {
  Object.assign(sandbox, { pattern, text })
  try {
    return script.runInContext(sandbox, { timeout: matchLimitMs }) === true
  } catch (error) {
    if (isTimeout(error)) return false
    throw error
  }
}

/** Errors from the sandbox have another Error class. */
function isTimeout(error: unknown): boolean {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error
  return isCoded && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

/** Case-insensitive; several headers of one name are joined into a list. Null: there is none. */
export function findHeader(headers: Headers, name: string): string | null {
  const wanted = name.toLowerCase()
  const values = headers.flatMap(([one, value]) => (one.toLowerCase() === wanted ? [value] : []))
  return values.length === 0 ? null : values.join(', ')
}

export function matchHeaders(expected: HeaderExpectations, headers: Headers): boolean {
  return expected.every(([name, value]) => matchesText(value, findHeader(headers, name)))
}
