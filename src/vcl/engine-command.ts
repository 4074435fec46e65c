/**
 * Decides which lines users may send to a cache (docs/behaviour.md, Commands). It checks the words as the cache decodes them, so that no
 * alternative spelling of a command or of `<<` bypasses the list. Pure; used by coordinator and agent.
 */

type CommandJudgement =
  /** Sent unchanged. */
  | {
      readonly verdict: 'reading'
      readonly name: string
      readonly line: string
      /** The decoded words after the name. */
      readonly words: readonly string[]
    }
  /** Handled as desired state or an invalidation; never sent as a command. */
  | { readonly verdict: 'desired-state'; readonly name: string; readonly words: readonly string[] }
  /** A sentence for the caller: what is wrong and what would be right. */
  | { readonly verdict: 'refused'; readonly reason: string }

const readingCommands: ReadonlySet<string> = new Set([
  'ping',
  'status',
  'banner',
  'help',
  'pid',
  'vcl.list',
  'vcl.show',
  'vcl.deps',
  'backend.list',
  'ban.list',
  'param.show',
  'panic.show',
  'storage.list',
])

/** For the agent's own checks only, because names of certificates are visible to their owners only. */
const ownReadingCommand = 'tls.cert.list'

const desiredStateCommands: ReadonlySet<string> = new Set([
  'ban',
  'param.set',
  'param.reset',
  'backend.set_health',
])

/** Setting one of these allows running programs or reading files as the cache's user; the `_dir` names are those of 4.x to 6.0. */
export const neverSettable: ReadonlySet<string> = new Set([
  'cc_command',
  'cc_warnings',
  'vcc_allow_inline_c',
  'vcc_unsafe_path',
  'vcc_feature',
  'vcl_path',
  'vcl_dir',
  'vmod_path',
  'vmod_dir',
  'user',
  'user_cc',
  'group',
  'group_cc',
])

/** No reading command needs more; the cache itself has no limit. */
const lineLimitCharacters = 8192

export function judgeCommand(text: string): CommandJudgement {
  const line = text.endsWith('\n') ? text.slice(0, -1) : text
  const unsafe = findUnsafeText(line)
  if (unsafe !== null) return refuse(unsafe)
  const words = splitWords(line)
  if (typeof words === 'string') return refuse(words)
  const [first, ...others] = words
  if (first === undefined) return refuse('the command is empty')
  const unsafeWord = words.map(findUnsafeWord).find((reason) => reason !== null)
  if (unsafeWord !== undefined) return refuse(unsafeWord)
  return judgeWords(first, others, line)
}

/** True for commands that change nothing on a cache. */
export function isReadingCommand(name: string): boolean {
  return readingCommands.has(name) || name === ownReadingCommand
}

export function isSettableParameter(name: string): boolean {
  return !neverSettable.has(name) && !name.startsWith('jail')
}

function judgeWords(first: string, others: readonly string[], line: string): CommandJudgement {
  if (readingCommands.has(first)) return { verdict: 'reading', name: first, line, words: others }
  if (!desiredStateCommands.has(first))
    return refuse(`${shorten(first)} is not allowed; allowed are ${allowedCommands()}`)
  const [parameter] = others
  if (first.startsWith('param.') && parameter !== undefined && !isSettableParameter(parameter))
    return refuse(`parameter ${parameter} may not be changed by anyone`)
  return { verdict: 'desired-state', name: first, words: others }
}

function refuse(reason: string): CommandJudgement {
  return { verdict: 'refused', reason }
}

function allowedCommands(): string {
  return [...readingCommands, ...desiredStateCommands].join(', ')
}

function shorten(word: string): string {
  return JSON.stringify(word.length > 64 ? `${word.slice(0, 64)}…` : word)
}

function findUnsafeText(line: string): string | null {
  if (line.length > lineLimitCharacters)
    return `the command has ${line.length} characters, at most ${lineLimitCharacters}`
  if (/[\r\n]/.test(line))
    return 'a command is one line; only a single trailing line feed is dropped'
  if (/\p{Cc}/u.test(line)) return 'a command holds no control characters'
  if (/[\u2028\u2029\p{Cs}]/u.test(line))
    return 'a command holds no line separators and no lone surrogates'
  return null
}

/**
 * Checks a word as the cache decodes it. The manager forwards words to its child unquoted: there, an escaped line feed would start a second
 * command, and `<<` within a quoted word a here-document.
 */
function findUnsafeWord(word: string): string | null {
  if (/\p{Cc}/u.test(word)) return 'a command holds no control characters, escaped ones included'
  if (word.includes('<<')) return 'a command holds no <<'
  return null
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
}

/** Follows VAV_Parse (vav.c); spellings that releases read differently are errors. Returns the words, or an error text. */
function splitWords(line: string): string[] | string {
  const words: string[] = []
  let at = 0
  for (;;) {
    while (line[at] === ' ') at += 1
    if (at >= line.length) return words
    const word = line[at] === '"' ? readQuoted(line, at) : readBare(line, at)
    if (typeof word === 'string') return word
    words.push(word.text)
    at = word.end
  }
}

interface Word {
  readonly text: string
  /** Index after the word and its closing quote. */
  readonly end: number
}

function readQuoted(line: string, start: number): Word | string {
  let text = ''
  let at = start + 1
  while (at < line.length) {
    const character = line.charAt(at)
    if (character === '"')
      return at + 1 < line.length && line[at + 1] !== ' '
        ? 'a closing quote is followed by a blank or the end'
        : { text, end: at + 1 }
    const piece = readCharacter(line, at)
    if (typeof piece === 'string') return piece
    text += piece.text
    at = piece.end
  }
  return 'a quote is not closed'
}

function readBare(line: string, start: number): Word | string {
  let text = ''
  let at = start
  while (at < line.length && line[at] !== ' ') {
    if (line[at] === '"') return 'a quote stands at the start of a word or is written \\"'
    const piece = readCharacter(line, at)
    if (typeof piece === 'string') return piece
    text += piece.text
    at = piece.end
  }
  return { text, end: at }
}

function readCharacter(line: string, at: number): Word | string {
  const character = line.charAt(at)
  if (character !== '\\') return { text: character, end: at + 1 }
  const simple = escapes[line.charAt(at + 1)]
  if (simple !== undefined) return { text: simple, end: at + 2 }
  const code = /^\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3}))/.exec(line.slice(at, at + 4))
  if (!code) return 'a backslash is followed by n, r, t, ", \\, xHH or up to three octal digits'
  const value = code[1] === undefined ? parseInt(code[2] ?? '', 8) : parseInt(code[1], 16)
  return { text: String.fromCharCode(value & 0xff), end: at + code[0].length }
}
