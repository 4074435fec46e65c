/**
 * Log queries, vsl-query(7): parsed into a tree and printed again, so that the cache's tool gets exactly what was judged. Comments,
 * several lines, and abbreviated tags are not supported.
 */
import { refuseQuery, splitQuery, type QueryWord } from './query-words.js'

export type LogQuery =
  | { readonly kind: 'and' | 'or'; readonly left: LogQuery; readonly right: LogQuery }
  | { readonly kind: 'not'; readonly of: LogQuery }
  | LogTest

/** True if at least one record of the transaction matches. */
export interface LogTest {
  readonly kind: 'test'
  readonly level: string | null
  /** Names or globs; `vxid` stands alone. */
  readonly tags: readonly string[]
  readonly prefix: string | null
  readonly field: number | null
  readonly comparison: LogComparison | null
  /** Index of its first character. */
  readonly at: number
}

interface LogComparison {
  readonly operator: (typeof operators)[number]
  readonly operand: string
  readonly at: number
}

const numberOperators = ['==', '!=', '<=', '>=', '<', '>'] as const
const textOperators = ['eq', 'ne', '~', '!~'] as const
const operators = [...numberOperators, ...textOperators] as const
/** Depth of nested parentheses, which the tool parses recursively. */
const maxDepth = 20
const tagName = /^(?:\*?[A-Za-z_]+|[A-Za-z_]+\*|\*)$/
const numberText = /^-?\d{1,15}(?:\.\d{0,9})?$/

/** Throws FleetError 'invalid' with the position. */
export function parseLogQuery(text: string): LogQuery {
  const reader = new QueryReader(text, splitQuery(text))
  const query = reader.readOr(0)
  reader.requireEnd()
  return query
}

class QueryReader {
  readonly #text: string
  readonly #words: readonly QueryWord[]
  #next = 0

  constructor(text: string, words: readonly QueryWord[]) {
    this.#text = text
    this.#words = words
  }

  readOr(depth: number): LogQuery {
    let left = this.#readAnd(depth)
    while (this.#take('or')) left = { kind: 'or', left, right: this.#readAnd(depth) }
    return left
  }

  requireEnd(): void {
    const word = this.#words[this.#next]
    if (word)
      throw this.#refuse(`${shown(word)} is not expected here; expected and, or, or the end`)
  }

  #readAnd(depth: number): LogQuery {
    let left = this.#readNot(depth)
    while (this.#take('and')) left = { kind: 'and', left, right: this.#readNot(depth) }
    return left
  }

  #readNot(depth: number): LogQuery {
    if (this.#take('not')) return { kind: 'not', of: this.#readGroup(depth) }
    return this.#readGroup(depth)
  }

  #readGroup(depth: number): LogQuery {
    if (!this.#take('(')) return this.#readTest()
    if (depth === maxDepth) throw this.#refuse(`brackets are nested deeper than ${maxDepth}`)
    const inner = this.readOr(depth + 1)
    this.#require(')')
    return inner
  }

  #readTest(): LogTest {
    const at = this.#words[this.#next]?.at ?? this.#text.length
    const level = this.#readLevel()
    const tags = [this.#readTag()]
    while (this.#take(',')) tags.push(this.#readTag())
    const prefix = this.#take(':') ? this.#readText('a name such as Host').text : null
    const field = this.#readField()
    const selection = { level, tags, prefix, field }
    if (tags.includes('vxid') && !isBareVxid(selection))
      throw this.#refuse('vxid stands alone before its operator')
    const comparison = this.#readComparison()
    if (tags.includes('vxid') && !/^\d+$/.test(comparison?.operand ?? ''))
      throw this.#refuse('vxid is compared with a whole number')
    return { kind: 'test', ...selection, comparison, at }
  }

  #readLevel(): string | null {
    if (!this.#take('{')) return null
    const { text } = this.#readText('a level such as 2+')
    if (!/^\d{1,3}[+-]?$/.test(text))
      throw this.#refuse('a level is a number, maybe with + or -', 1)
    this.#require('}')
    return text
  }

  #readTag(): string {
    const { text, kind } = this.#readText('a tag such as RespStatus')
    if (kind === 'quoted' || !tagName.test(text))
      throw this.#refuse(`${JSON.stringify(text)} is not a tag; one is RespStatus`, 1)
    return text
  }

  #readField(): number | null {
    if (!this.#take('[')) return null
    const { text } = this.#readText('the number of a field')
    if (!/^[1-9]\d{0,3}$/.test(text)) throw this.#refuse('fields are numbered from 1', 1)
    this.#require(']')
    return Number(text)
  }

  #readComparison(): LogComparison | null {
    const word = this.#words[this.#next]
    const operator = operators.find((one) => word?.kind !== 'quoted' && one === word?.text)
    if (word === undefined || operator === undefined) return null
    this.#next += 1
    const { text: operand, at } = this.#readText(`what ${operator} compares with`)
    const isNumeric = numberOperators.some((one) => one === operator)
    if (isNumeric && !numberText.test(operand))
      throw this.#refuse(`${operator} needs a number, not ${JSON.stringify(operand)}`, 1)
    return { operator, operand, at }
  }

  #readText(wanted: string): QueryWord {
    const word = this.#words[this.#next]
    if (!word || word.kind === 'mark') throw this.#refuse(`${wanted} is missing`)
    this.#next += 1
    return word
  }

  #take(text: string): boolean {
    const word = this.#words[this.#next]
    if (word === undefined || word.kind === 'quoted' || word.text !== text) return false
    this.#next += 1
    return true
  }

  #require(mark: string): void {
    if (!this.#take(mark)) throw this.#refuse(`${mark} is missing`)
  }

  /** Refuses at the next word, or `back` words before it. */
  #refuse(reason: string, back = 0) {
    const at = this.#words[this.#next - back]?.at ?? this.#text.length
    return refuseQuery(this.#text, at, reason)
  }
}

function isBareVxid({ level, tags, prefix, field }: Omit<LogTest, 'kind' | 'comparison' | 'at'>) {
  return tags.length === 1 && level === null && prefix === null && field === null
}

/** Prints the query in canonical form: operands are quoted unless their operator compares numbers. */
export function printLogQuery(query: LogQuery): string {
  switch (query.kind) {
    case 'and':
    case 'or':
      return `(${printLogQuery(query.left)} ${query.kind} ${printLogQuery(query.right)})`
    case 'not':
      return `not (${printLogQuery(query.of)})`
    case 'test':
      return printTest(query)
  }
}

function printTest({ level, tags, prefix, field, comparison }: LogTest): string {
  const criteria = [
    level === null ? '' : `{${level}}`,
    tags.join(','),
    prefix === null ? '' : `:${quoteOperand(prefix)}`,
    field === null ? '' : `[${field}]`,
  ].join('')
  if (comparison === null) return criteria
  const { operator, operand } = comparison
  const isNumeric = numberOperators.some((one) => one === operator)
  return `${criteria} ${operator} ${isNumeric ? operand : quoteOperand(operand)}`
}

function quoteOperand(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

export function listTests(query: LogQuery): readonly LogTest[] {
  if (query.kind === 'test') return [query]
  if (query.kind === 'not') return listTests(query.of)
  return [...listTests(query.left), ...listTests(query.right)]
}

function shown({ text }: QueryWord): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
