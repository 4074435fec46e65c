/** Reads values of a YAML file by expected type and records problems with their lines; only the first problem of a value. */
import type { YamlDocument, YamlPath } from '../yaml-lines.js'
import { patternLimitCharacters, type TextExpectation } from './test-file.js'

export interface TestProblem {
  /** From 1. */
  readonly line: number
  readonly message: string
}

export type Values = Readonly<Record<string, unknown>>

interface NumberBounds {
  readonly least: number
  readonly most: number
  readonly isWhole?: boolean
}

/** Authors fix a few at a time. */
export const maxProblems = 20
const shownCharacters = 60

export class ValueReader {
  readonly problems: TestProblem[] = []
  readonly #document: YamlDocument

  constructor(document: YamlDocument) {
    this.#document = document
  }

  lineOf(path: YamlPath): number {
    return this.#document.lineOf(path) ?? 1
  }

  /** The message has `path` without step numbers: the line identifies the step. */
  add(path: YamlPath, message: string): void {
    if (this.problems.length === maxProblems) return
    const field = path.filter((part) => typeof part === 'string' && part !== 'steps').join('.')
    const prefix = field === '' ? '' : `${field}: `
    this.problems.push({ line: this.lineOf(path), message: `${prefix}${message}` })
  }

  /** A map with only these keys; null otherwise, with a recorded problem. */
  map(value: unknown, path: YamlPath, known: readonly string[]): Values | null {
    const values = this.anyMap(value, path)
    if (values === null) return null
    const strangers = Object.keys(values).filter((key) => !known.includes(key))
    for (const key of strangers)
      this.add(path, `${show(key)} is not known here; known are ${known.join(', ')}`)
    return strangers.length === 0 ? values : null
  }

  anyMap(value: unknown, path: YamlPath): Values | null {
    if (isMap(value)) return value
    this.add(path, `expected a map, got ${show(value)}`)
    return null
  }

  list(value: unknown, path: YamlPath): readonly unknown[] {
    if (Array.isArray(value)) return value
    this.add(path, `expected a list, got ${show(value)}`)
    return []
  }

  text(value: unknown, path: YamlPath): string {
    if (typeof value === 'string') return value
    this.add(path, `expected a text, got ${show(value)}`)
    return ''
  }

  /** Also accepts a number or a boolean, as in headers. */
  plainText(value: unknown, path: YamlPath): string {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    return this.text(value, path)
  }

  number(value: unknown, path: YamlPath, { least, most, isWhole = true }: NumberBounds): number {
    const isRight =
      typeof value === 'number' &&
      value >= least &&
      value <= most &&
      (!isWhole || Number.isSafeInteger(value))
    if (isRight) return value
    const what = isWhole ? 'a whole number' : 'a number'
    this.add(path, `expected ${what} from ${least} to ${most}, got ${show(value)}`)
    return least
  }

  flag(value: unknown, path: YamlPath): boolean {
    if (typeof value === 'boolean') return value
    this.add(path, `expected true or false, got ${show(value)}`)
    return false
  }

  oneOf<Word extends string>(value: unknown, path: YamlPath, words: readonly Word[]): Word | null {
    const found = words.find((word) => word === value)
    if (found === undefined) this.add(path, `${show(value)} is not one of ${words.join(', ')}`)
    return found ?? null
  }

  expectation(value: unknown, path: YamlPath): TextExpectation {
    if (value === null) return { kind: 'absent' }
    if (!isMap(value)) return { kind: 'equals', text: this.plainText(value, path) }
    const forms = ['matches', 'contains'] as const
    const [form, other] = forms.filter((one) => one in value)
    if (form === undefined || other !== undefined || Object.keys(value).length > 1) {
      this.add(path, 'expected a text, {matches: …}, {contains: …} or null')
      return { kind: 'absent' }
    }
    const text = this.plainText(value[form], [...path, form])
    if (form === 'matches') this.#checkPattern(text, [...path, form])
    return { kind: form, text }
  }

  #checkPattern(pattern: string, path: YamlPath): void {
    if (pattern.length > patternLimitCharacters)
      this.add(path, `a regular expression has at most ${patternLimitCharacters} characters`)
    try {
      new RegExp(pattern)
    } catch (error) {
      this.add(path, error instanceof Error ? error.message : String(error))
    }
  }
}

export function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (isMap(value)) return 'a map'
  const text = JSON.stringify(value)
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
