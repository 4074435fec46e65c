/**
 * Encodes text as arguments of a command line, or refuses it before a byte is written.
 *
 * Parsed by lib/libvarnish/vav.c: words end at white space; inside and outside of quotes `\n \r \t \" \\ \ooo \xHH` are escapes, any other
 * backslash is an error. Releases 7.0–7.4 refuse two adjacent quoted words, so only the empty word is quoted here and blanks are sent as
 * `\x20`. Escapes are decoded before the word is compared with `<<`, the start of a here-document, so escaping it does not help.
 *
 * Commands that the manager does not know are forwarded to its child as text (mgt_cli.c, mcf_askchild): escaped again, but not quoted.
 * There a blank splits the word, an empty word vanishes, and `<<` makes the manager wait for a text that never comes until it kills the
 * child. Words for the child therefore have a stricter rule.
 */

import { randomUUID } from 'node:crypto'
import { ManagementPortError } from './errors.js'

/** The cache itself has no limit. */
const argumentLimitBytes = 64 * 1024
/** Four times the longest flattened VCL that is deployed (docs/behaviour.md, VCL limits). */
const sourceLimitBytes = 8 * 1024 * 1024

/** `name argument…` for commands of the manager: vcl.* except vcl.show, param.*, process commands. */
export function commandLine(name: string, words: readonly string[]): string {
  words.forEach((word, index) => {
    if (word === '' && words[index - 1] === '')
      throw refusal(name, 'two empty arguments side by side: releases 7.0 to 7.4 cannot read them')
  })
  return [name, ...words.map((word) => quoteArgument(word, name))].join(' ')
}

/** `name argument…` for commands of the child: ban*, backend.*, vcl.show. */
export function childCommandLine(name: string, words: readonly string[]): string {
  return [name, ...words.map((word) => quoteChildArgument(word, name))].join(' ')
}

export function quoteArgument(word: string, command?: string): string {
  const unsafe = findUnsafe(word)
  if (unsafe !== null) throw refusal(command, unsafe)
  return word === '' ? '""' : escapeWord(word)
}

export function quoteChildArgument(word: string, command?: string): string {
  const unsafe = findUnsafe(word) ?? findUnsafeForChild(word)
  if (unsafe !== null) throw refusal(command, unsafe)
  return escapeWord(word)
}

/**
 * ` << TOKEN`, the text and the token: always the last words of a line. The text arrives unchanged, with a line feed appended if it has
 * none. The cache searches the token anywhere in the text without backtracking (vlu.c), so the token is random, not contained in the text,
 * and its first character occurs in it only once.
 */
export function hereDocument(source: string, command?: string): string
export function hereDocument(source: string | Buffer, command?: string): string | Buffer
export function hereDocument(source: string | Buffer, command?: string): string | Buffer {
  const unsafe = findUnsafeInSource(source)
  if (unsafe !== null) throw refusal(command, unsafe)
  const token = findToken(source)
  if (typeof source === 'string')
    return ` << ${token}\n${source}${source.endsWith('\n') ? '' : '\n'}${token}`
  const lineFeed = source.at(-1) === 0x0a ? '' : '\n'
  return Buffer.concat([Buffer.from(` << ${token}\n`), source, Buffer.from(`${lineFeed}${token}`)])
}

/**
 * Checks a line that a user typed, without changing it: it is one line whose words, as the cache decodes them, contain no control byte and
 * no `<<`, even after the child has split them at blanks again.
 */
export function checkTypedLine(line: string): string {
  const unsafe = findUnsafe(line) ?? findUnsafeWords(line)
  if (unsafe !== null) throw refusal(undefined, unsafe)
  return line
}

// isspace() of the C locale; a quoted or a bare word, up to white space or the end.
const space = ' \t\n\v\f\r'
const wordPattern = (() => {
  const quoted = '"((?:[^"\\\\]|\\\\[^])*)"'
  const bare = `((?:[^"\\\\${space}]|\\\\[^])+)`
  return `[${space}]*(?:${quoted}|${bare})(?=[${space}]|$)`
})()

/** The words of a line as the cache reads them, or null if it would report a syntax error (vav.c, VAV_ParseTxt). */
export function splitLine(line: string): string[] | null {
  const words: string[] = []
  const pattern = new RegExp(wordPattern, 'y')
  let end = line.length
  while (end > 0 && space.includes(line.charAt(end - 1))) end--
  while (pattern.lastIndex < end) {
    const found = pattern.exec(line)
    const word = found === null ? null : readEscapes(found[1] ?? found[2] ?? '')
    if (word === null) return null
    words.push(word)
  }
  return words
}

// Control bytes (C0, DEL), and characters that end a line for readers or log parsers: U+2028, U+2029.
const unsafeCharacter = /[\u0000-\u001f\u007f\u2028\u2029]|\p{Surrogate}/u

function findUnsafe(word: string): string | null {
  if (Buffer.byteLength(word) > argumentLimitBytes)
    return `an argument of more than ${argumentLimitBytes} bytes`
  const found = unsafeCharacter.exec(word)
  if (found) return `${describeCharacter(found)}; a command is one line of printable text`
  if (word === '<<') return 'the argument `<<`, which the cache takes for the start of a text'
  return null
}

function findUnsafeForChild(word: string): string | null {
  if (word === '') return 'an empty argument, which is lost between the two processes of the cache'
  if (word.includes(' '))
    return 'a blank, at which the cache cuts the argument in two; in a regular expression write \\x20'
  return null
}

function findUnsafeInSource(source: string | Buffer): string | null {
  if (Buffer.byteLength(source) > sourceLimitBytes)
    return `a text of more than ${sourceLimitBytes} bytes`
  if (source.includes('\0')) return 'a NUL byte in the text, at which the cache would cut it'
  const lone = typeof source === 'string' ? /\p{Surrogate}/u.exec(source) : null
  return lone && `${describeCharacter(lone)}, which no UTF-8 text can hold`
}

function findUnsafeWords(line: string): string | null {
  const words = splitLine(line)
  if (words === null) return 'a line that the cache cannot read: check its quotes and backslashes'
  if (words.length === 0) return 'an empty line, to which the cache gives no answer'
  if (unsafeCharacter.test(words.join(''))) return 'an escape that stands for a control character'
  if (words.some((word) => word.split(/\s/).includes('<<')))
    return 'the word `<<`, which the cache takes for the start of a text'
  return null
}

const escapeWord = (word: string) =>
  word.replace(/[\\" ]/g, (character) => (character === ' ' ? '\\x20' : `\\${character}`))

function describeCharacter(found: RegExpExecArray): string {
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `the character U+${code} at position ${found.index + 1}`
}

/** A UUID, since Node buffers random bytes only for these: 122 bits. */
function findToken(source: string | Buffer): string {
  for (;;) {
    const token = `Z${randomUUID().replaceAll('-', '')}`
    if (!source.includes(token)) return token
  }
}

const escapePattern = /\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|([nrt"\\])|[^])/g
const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** Returns null for an escape that the cache does not know (vav.c, VAV_BackSlash). An escaped byte becomes the character of that code. */
function readEscapes(word: string): string | null {
  let read = ''
  let at = 0
  for (const found of word.matchAll(escapePattern)) {
    const [whole, hex, octal, letter = ''] = found
    const digits = hex === undefined ? parseInt(octal ?? '', 8) : parseInt(hex, 16)
    if (Number.isNaN(digits) && letter === '') return null
    const character = letter === '' ? String.fromCharCode(digits & 0xff) : letters[letter]
    read += word.slice(at, found.index) + (character ?? letter)
    at = found.index + whole.length
  }
  return read + word.slice(at)
}

function refusal(command: string | undefined, reason: string): ManagementPortError {
  const message = `refused before sending: ${reason}`
  return new ManagementPortError('refused', message, command === undefined ? {} : { command })
}
