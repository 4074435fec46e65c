/**
 * Parses ban expressions from callers (docs/behaviour.md, Ban expressions): `term (&& term)*`, where a term is a field, an operator and a
 * value, separated by blanks. A value is a bare word or `"…"`, in which only `\"` and `\\` are escapes. The parsed words are sent one by
 * one, never the original text, because the management port interprets escapes, `<<` and blanks in its own way.
 */
import { FleetError } from '../errors.js'
import { groupHeader } from './prologue.js'

export interface BanTerm {
  readonly field: string
  readonly operator: BanOperator
  readonly value: string
}

const matchOperators = ['==', '!=', '~', '!~'] as const
const durationOperators = ['==', '!=', '>', '>=', '<', '<='] as const
type BanOperator = (typeof matchOperators)[number] | (typeof durationOperators)[number]

/** Fits into one line of the management port in every release (cli_buffer of 6.0 is 8 kB). */
export const expressionLimitBytes = 4096

/** A header name of 127 characters panics the child of 7.1.1. */
const matchField = /^(?:req\.url|obj\.status|(?:req|obj)\.http\.[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126})$/
const durationField = /^obj\.(?:ttl|age|grace|keep)$/
/** varnishd's duration syntax (vnum.c); the unit is required here. */
const duration = /^\d{1,15}(?:\.\d{1,15})?(?:ms|[smhdwy])$/
// C0, DEL and C1 controls, line separators, lone surrogates: not allowed in a printable line.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u
/** Spellings that the management port decodes to `<<`, the start of a here-document (vav.c, VAV_BackSlash), even if escaped. */
const hereDocumentMark = /^(?:<|\\x3c|\\0?74){2}$/i

interface Word {
  readonly text: string
  /** Index of the word's first character. */
  readonly at: number
  readonly isQuoted: boolean
}

/** Throws FleetError 'invalid' with the position, counted in characters from 1. */
export function parseBanExpression(text: string): readonly BanTerm[] {
  const bytes = new TextEncoder().encode(text).length
  if (bytes > expressionLimitBytes)
    throw refusal(text, 0, `it has ${bytes} bytes; at most ${expressionLimitBytes} are allowed`)
  const found = unprintable.exec(text)
  if (found) throw refusal(text, found.index, `the character ${describe(found[0])} is not allowed`)
  const words = splitWords(text)
  const terms: BanTerm[] = []
  let next = 0
  do {
    terms.push(readTerm(text, words.slice(next, next + 3)))
    const joint = words[next + 3]
    if (joint && (joint.isQuoted || joint.text !== '&&'))
      throw refusal(text, joint.at, `${shown(joint)} stands where && must join two terms`)
    next += 4
  } while (next <= words.length)
  return terms
}

/** Prints the terms in a normalized form; values are quoted only if necessary. */
export function printBanExpression(terms: readonly BanTerm[]): string {
  return terms
    .map(({ field, operator, value }) => `${field} ${operator} ${quoteWord(value)}`)
    .join(' && ')
}

/** Restricts the ban to objects of this group (docs/behaviour.md, Isolation). */
export function narrowToGroup(terms: readonly BanTerm[], groupId: number): readonly BanTerm[] {
  return [...terms, { field: `obj.http.${groupHeader}`, operator: '==', value: String(groupId) }]
}

function splitWords(text: string): Word[] {
  const words: Word[] = []
  // A quoted word, possibly unterminated, or a bare word.
  const pattern = /"((?:[^"\\]|\\[^])*)("?)|[^ "]+/g
  let end = -1
  for (const { 0: whole, 1: quoted, 2: close, index: at } of text.matchAll(pattern)) {
    if (at === end)
      throw refusal(text, at, 'a blank must stand between two words, and no quote in one')
    if (close === '') throw refusal(text, at, 'this quote is not closed')
    const isQuoted = quoted !== undefined
    const word = isQuoted ? quoted.replace(/\\(["\\])/g, '$1') : whole
    words.push({ text: word, at, isQuoted })
    end = at + whole.length
  }
  return words
}

function readTerm(text: string, [field, operator, value]: readonly Word[]): BanTerm {
  if (!field || !operator || !value)
    throw refusal(
      text,
      text.length,
      'the expression ends, a term is a field, an operator and a value',
    )
  const isDuration = durationField.test(field.text)
  if (field.isQuoted || !(isDuration || matchField.test(field.text)))
    throw refusal(
      text,
      field.at,
      `${shown(field)} is not a field; req.url, req.http.<name>, obj.status, obj.http.<name>, obj.ttl, obj.age, obj.grace and obj.keep are`,
    )
  const known: readonly BanOperator[] = isDuration ? durationOperators : matchOperators
  const found = known.find((one) => !operator.isQuoted && one === operator.text)
  if (!found)
    throw refusal(
      text,
      operator.at,
      `${shown(operator)} is not an operator of ${field.text}; ${known.join(' ')} are`,
    )
  const problem = isDuration ? findDurationProblem(value) : findValueProblem(value, found)
  if (problem !== null) throw refusal(text, value.at, problem)
  return { field: field.text, operator: found, value: value.text }
}

function findDurationProblem(value: Word): string | null {
  return duration.test(value.text)
    ? null
    : `${shown(value)} is not a duration; a number with ms, s, m, h, d, w or y is`
}

function findValueProblem({ text }: Word, operator: BanOperator): string | null {
  if (text === '') return 'an empty value would be lost on its way through the cache'
  if (hereDocumentMark.test(text)) return 'the cache takes the word << for the start of a text'
  if (!text.includes(' ')) return null
  if (operator === '==' || operator === '!=')
    return `a blank cannot be compared with ${operator}; use ~ with \\x20 in its place`
  // pcre2pattern(3): in these forms, replacing the blank by `\x20` would change the meaning.
  if (/\\Q|\\c |\(\?\^?[A-Za-z]*x/.test(text))
    return 'a blank in a regular expression with \\Q, \\c or (?x); write \\x20 for it'
  return null
}

/** Quotes a value as a word of an expression. */
export function quoteWord(value: string): string {
  if (value !== '' && !/[ "]/.test(value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function shown({ text }: Word): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function describe(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

function refusal(text: string, index: number, reason: string): FleetError {
  const position = Array.from(text.slice(0, index)).length + 1
  return new FleetError('invalid', 'invalidation', `expression, position ${position}: ${reason}`)
}
