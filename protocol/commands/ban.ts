/** Bans (varnish-cli(7), cache_ban.c). Answered by the child: words are re-read there, see quote.ts. */

import { expectOk, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import { numberOrNull, readNumber, readObject, readString } from '../json.js'
import { readJsonList } from '../long-list.js'
import { childCommandLine } from '../quote.js'

export interface BanTerm {
  /** `req.url`, `req.http.X`, `obj.status`, `obj.http.X`, or `obj.ttl`, `.age`, `.grace`, `.keep`. */
  readonly field: string
  readonly operator: BanOperator
  /** One word: a blank cannot travel, see `writeBlanksAsEscapes`. */
  readonly value: string
}

export type BanOperator = '==' | '!=' | '~' | '!~' | '>' | '>=' | '<' | '<='

export interface Ban {
  readonly timeSeconds: number
  /** Objects that were checked against this ban last. */
  readonly references: number
  /** It can match nothing any more. */
  readonly isCompleted: boolean
  /** As the cache prints it; empty for the ban that every cache starts with. */
  readonly expression: string
}

/** A header name of 127 characters or more panics the child of 7.1.1: no more than 126. */
const fieldPattern =
  /^(?:req\.url|obj\.(?:status|ttl|age|grace|keep)|(?:req|obj)\.http\.[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126})$/

/** Objects older than this that match all terms are not served any more. Made when 200 comes: `ban.list` cannot prove it. */
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
 * The same regular expression without blanks: `\x20` for each. Refused where that would change what it matches
 * (pcre2pattern(3)): within `\Q…\E`, after `\c`, and where a `(?x)` might make blanks meaningless.
 */
export function writeBlanksAsEscapes(pattern: string): string {
  if (!pattern.includes(' ')) return pattern
  if (/\\Q|\\c |\(\?\^?[A-Za-z]*x/.test(pattern))
    throw refusal('a blank in a regular expression with \\Q, \\c or (?x): write \\x20 for it')
  // A backslash takes the character behind it along: `\ ` is a blank, `\\ ` is a backslash and a blank.
  return pattern.replace(/\\ | |\\[^]/g, (found) => (found.endsWith(' ') ? '\\x20' : found))
}

/** Newest first. On an empty cache all but the newest disappear within moments: nothing is left for them to match. */
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

/** `ban.list -j` writes bytes outside of ASCII as `\303`, which is not JSON (vsb.c, VSB_quote): makes bytes of them again. */
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
