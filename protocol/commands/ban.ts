/** Bans (varnish-cli(7), cache_ban.c). The child executes them and parses the words again, see quote.ts. */

import { expectOk, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import { numberOrNull, readNumber, readObject, readString } from '../json.js'
import { readJsonList } from '../long-list.js'
import { childCommandLine } from '../quote.js'

export interface BanTerm {
  /** `req.url`, `req.http.X`, `obj.status`, `obj.http.X`, or `obj.ttl`, `.age`, `.grace`, `.keep`. */
  readonly field: string
  readonly operator: BanOperator
  /** A single word: blanks cannot be sent, see `writeBlanksAsEscapes`. */
  readonly value: string
}

export type BanOperator = '==' | '!=' | '~' | '!~' | '>' | '>=' | '<' | '<='

export interface Ban {
  readonly timeSeconds: number
  /** Number of objects whose last check was against this ban. */
  readonly references: number
  /** The ban can no longer match anything. */
  readonly isCompleted: boolean
  /** As printed by the cache; empty for the initial ban of every cache. */
  readonly expression: string
}

/** At most 126 characters: a header name of 127 or more panics the child of 7.1.1. */
const fieldPattern =
  /^(?:req\.url|obj\.(?:status|ttl|age|grace|keep)|(?:req|obj)\.http\.[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126})$/

/** Older objects that match all terms are no longer served. The reply 200 confirms the ban: `ban.list` cannot prove it. */
export function ban(terms: readonly BanTerm[]): Command<void> {
  if (terms.length === 0) throw refusal('a ban has one term at least')
  const words = terms.flatMap(({ field, operator, value }, index) => {
    if (!fieldPattern.test(field))
      throw refusal(`${JSON.stringify(field.slice(0, 80))} is not a field of a ban`)
    return [...(index === 0 ? [] : ['&&']), field, operator, value]
  })
  return { name: 'ban', line: childCommandLine('ban', words), parse: expectOk }
}

/**
 * Replaces the blanks in a regular expression by `\x20`. Refused if that would change its meaning (pcre2pattern(3)): within `\Q…\E`, after
 * `\c`, and if a `(?x)` may make blanks insignificant.
 */
export function writeBlanksAsEscapes(pattern: string): string {
  if (!pattern.includes(' ')) return pattern
  if (/\\Q|\\c |\(\?\^?[A-Za-z]*x/.test(pattern))
    throw refusal('a blank in a regular expression with \\Q, \\c or (?x): write \\x20 for it')
  // A backslash belongs to the next character: `\ ` is a blank, `\\ ` is a backslash and a blank.
  return pattern.replace(/\\ | |\\[^]/g, (found) => (found.endsWith(' ') ? '\\x20' : found))
}

/** Newest first. On an empty cache all but the newest disappear within moments, because they have nothing left to match. */
export function banList(): Command<readonly Ban[]> {
  return {
    name: 'ban.list',
    line: 'ban.list -j',
    parse: (reply, name) =>
      readJsonList(reply, name, (row) => readBan(row, name), undoOctalEscapes),
  }
}

function readBan(item: unknown, name: string): Ban {
  const row = readObject(item, name)
  return {
    timeSeconds: readNumber(row, 'time', name),
    references: numberOrNull(row['refs']) ?? 0,
    isCompleted: row['completed'] === true,
    expression: readString(row, 'spec', name),
  }
}

/** `ban.list -j` writes non-ASCII bytes as `\303`, which is not JSON (vsb.c, VSB_quote); converts them back to bytes. */
function undoOctalEscapes(body: Buffer): string {
  const bytes = body
    .toString('latin1')
    .replace(/\\(?:([0-3][0-7]{2})|[^])/g, (found, octal?: string) =>
      octal === undefined ? found : byteInJson(parseInt(octal, 8)),
    )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

const byteInJson = (code: number) =>
  code < 0x20 ? `\\u${code.toString(16).padStart(4, '0')}` : String.fromCharCode(code)

function refusal(reason: string): ManagementPortError {
  return new ManagementPortError('refused', `refused before sending: ${reason}`, { command: 'ban' })
}
