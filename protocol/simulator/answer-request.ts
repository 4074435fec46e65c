/**
 * From a request to its reply: the manager's dispatch, the child's, and what lies between them. The manager repeats the
 * words of a child's command without quotes, and the child reads them anew: blanks split, empty words vanish
 * (vcli_serve.c cls_exec, cls_dispatch; mgt_cli.c mcf_askchild).
 */
import { answerChallenge } from '../auth.js'
import { cliStatus } from '../status.js'
import { timingSafeEqual } from 'node:crypto'
import { createCommandTable, type CommandTable, type EngineCommand } from './command-table.js'
import type { Call } from './commands/call.js'
import { printBanner, printPanic } from './commands/process.js'
import { coolPrograms, startChild, type EngineState } from './engine-state.js'
import { isOn, readNumber } from './param-table.js'
import type { EngineRelease } from './release.js'
import { quoteBare, quoteJson, ReplyText } from './reply-text.js'
import { RequestReader, type EngineRequest } from './request-reader.js'
import type { Words } from './words.js'

/** The secret's bytes; null: no authentication; missing: a file that cannot be opened. */
export type EngineSecret = Buffer | null | 'missing'

/** What the manager knows about the connection a request came on. */
export interface Caller {
  isAuthenticated: boolean
  /** Empty after it was answered. */
  challenge: string
  readonly secret: EngineSecret
}

export interface Occasion {
  readonly caller: Caller
  readonly nowMs: number
  readonly nextPid: () => number
}

const unknownRequest = "Unknown request.\nType 'help' for more info.\n"
/** The wildcard behind which the child's commands are takes so many words (mgt_cli.c CLICMD_WILDCARD). */
const forwardedWords = 999

/** Answers one request and does what it asks. */
export function answerRequest(
  engine: EngineState,
  request: EngineRequest,
  occasion: Occasion,
): ReplyText {
  coolPrograms(engine, occasion.nowMs, readNumber(engine, 'vcl_cooldown') * 1000)
  const reply = new ReplyText()
  dispatch({ engine, occasion, reply, side: 'manager' }, request.parsed)
  applyLimit(reply, readNumber(engine, 'cli_limit'), engine.release.cutMark)
  // Strangers are shown the door at the least provocation.
  if (!occasion.caller.isAuthenticated && reply.status !== cliStatus.ok) reply.closes = true
  if (reply.status === cliStatus.close) reply.closes = true
  return reply
}

/** Over the limit the text is cut, and success becomes "truncated". */
function applyLimit(reply: ReplyText, limitBytes: number, mark: string): void {
  const { text } = reply
  if (text.length <= limitBytes) return
  const kept = mark === '' ? limitBytes - 1 : limitBytes - mark.length
  reply.clear().indent(0).out(text.slice(0, kept)).out(mark)
  if (reply.status === cliStatus.ok) reply.status = cliStatus.truncated
}

interface Desk {
  readonly engine: EngineState
  readonly occasion: Occasion
  readonly reply: ReplyText
  readonly side: 'manager' | 'child'
}

function dispatch(desk: Desk, parsed: Words): void {
  const { engine, reply, occasion, side } = desk
  const prefix = engine.release.isUnknownPrefixed ? unknownRequest : ''
  if ('error' in parsed) {
    reply.refuse(cliStatus.syntax, `${prefix}Syntax Error: ${parsed.error}\n`)
    return
  }
  const [name] = parsed.words
  if (name === undefined) {
    reply.refuse(cliStatus.syntax, `${prefix}Empty CLI command.\n`)
    return
  }
  if (!/^[a-z]/.test(name)) {
    refuseName(desk, name, prefix)
    return
  }
  const isChild = side === 'child' || occasion.caller.isAuthenticated
  const command = commandsOf(engine.release).get(name)
  if (command !== undefined && isKnownAt(desk, command)) runCommand(desk, command, parsed.words)
  else if (isChild && side === 'manager') askChild(desk, parsed.words)
  else reply.refuse(cliStatus.unknown, unknownRequest)
}

function refuseName({ engine, reply }: Desk, name: string, prefix: string): void {
  const isCapital = /^[A-Z]/.test(name)
  if (engine.release.isUnknownPrefixed)
    reply.refuse(cliStatus.unknown, prefix + (isCapital ? 'all commands are in lower-case.\n' : ''))
  else reply.refuse(cliStatus.unknown, 'All commands are in lower-case.\n')
}

/** The child knows all commands' names; the manager those it answers itself. */
function isKnownAt({ side, occasion }: Desk, command: EngineCommand): boolean {
  if (side === 'child') return command.side === 'child' || command.name === 'help'
  return command.side === 'manager' && (command.isOpen || occasion.caller.isAuthenticated)
}

function runCommand(desk: Desk, command: EngineCommand, words: readonly string[]): void {
  const { engine, reply, occasion } = desk
  const isJson = words[1] === '-j'
  const args = words.slice(isJson ? 2 : 1)
  if (isJson && !command.hasJson) reply.refuse(cliStatus.unimplemented, 'JSON unimplemented\n')
  else if (args.length < command.least) reply.refuse(cliStatus.tooFew, 'Too few parameters\n')
  else if (command.most !== undefined && args.length > command.most)
    reply.refuse(cliStatus.tooMany, 'Too many parameters\n')
  else if (command.name === 'help' && desk.side === 'manager' && engine.child !== undefined)
    askChild(desk, words)
  else {
    const call: DeskCall = {
      engine,
      words,
      args,
      isJson,
      reply,
      nowMs: occasion.nowMs,
      nextPid: occasion.nextPid,
      desk,
    }
    command.answer(call)
  }
}

function askChild(desk: Desk, words: readonly string[]): void {
  const { engine, reply } = desk
  if (words.length - 1 > forwardedWords) {
    reply.refuse(cliStatus.tooMany, 'Too many parameters\n')
    return
  }
  if (engine.child === undefined) {
    reply.refuse(
      cliStatus.unknown,
      "Unknown request in manager process (child not running).\nType 'help' for more info.",
    )
    return
  }
  const reader = new RequestReader(engine.release.quoting)
  reader.push(`${words.map((word) => `${quoteBare(word)} `).join('')}\n`)
  const request = reader.next(true)
  if (request !== undefined) dispatch({ ...desk, side: 'child' }, request.parsed)
  // The child now waits for the end of a here-document, and the manager for the child.
  else hangChild(desk)
}

/** After cli_timeout the manager kills a child that does not answer. */
function hangChild(desk: Desk): void {
  const timeoutMs = readNumber(desk.engine, 'cli_timeout') * 1000
  desk.reply.delayMs = timeoutMs > 0 ? timeoutMs : Infinity
  loseChild(desk.engine, desk.occasion)
  desk.reply.refuse(cliStatus.communication, 'CLI communication error (hdr)')
}

/** The child ends without a word; the manager starts another unless it was told not to. */
export function loseChild(engine: EngineState, { nowMs, nextPid }: Omit<Occasion, 'caller'>): void {
  engine.child = undefined
  if (isOn(engine, 'auto_restart') && engine.active !== undefined)
    startChild(engine, nextPid(), nowMs)
}

interface DeskCall extends Call {
  readonly desk: Desk
}

/** A call made here carries its desk; what needs it asks for it. */
function deskOf(call: Call): Desk {
  if (!('desk' in call)) throw new TypeError('a call from elsewhere')
  return (call as DeskCall).desk // safe: only runCommand makes calls, all with a desk
}

const tables = new Map<string, CommandTable>()

/** One table a release, for all engines. */
function commandsOf(release: EngineRelease): CommandTable {
  const known = tables.get(release.version)
  if (known !== undefined) return known
  const table = createCommandTable(release, { authenticate, help, panicChild })
  if (tables.size < 100) tables.set(release.version, table)
  return table
}

function panicChild(call: Call): void {
  const { engine, reply, nowMs } = call
  engine.panic = printPanic(call.words[0] ?? '', engine.release, nowMs)
  loseChild(engine, call)
  reply.clear().refuse(cliStatus.communication, 'CLI communication error (hdr)')
}

function authenticate(call: Call): void {
  const { engine, reply } = call
  const { caller } = deskOf(call).occasion
  if (caller.secret === null) {
    reply.refuse(cliStatus.cannot, 'Secret file not configured\n')
    return
  }
  if (caller.secret === 'missing') {
    reply.refuse(cliStatus.cannot, 'Cannot open secret file (No such file or directory)\n')
    return
  }
  if (!isRight(call.args[0] ?? '', caller.challenge, caller.secret)) {
    reply.refuse(cliStatus.close, '')
    reply.closes = true
    return
  }
  caller.isAuthenticated = true
  caller.challenge = ''
  printBanner({ engine, reply })
}

function isRight(answer: string, challenge: string, secret: Buffer): boolean {
  if (challenge === '') return false
  const expected = Buffer.from(answerChallenge(Buffer.from(`${challenge}\n`), secret))
  const given = Buffer.from(answer.toLowerCase(), 'latin1')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Who answers shows what it knows: the child everything, the manager its own commands (VCLS_func_help). */
function help(call: Call): void {
  const { engine, reply, args, words, nowMs, isJson } = call
  const { side, occasion } = deskOf(call)
  const mayAll = side === 'child' || occasion.caller.isAuthenticated
  const commands = [...commandsOf(engine.release).values()].filter(
    (command) => (side === 'child' || command.side === 'manager') && (mayAll || command.isOpen),
  )
  if (isJson) {
    reply.beginJson(2, words, nowMs)
    const described = commands.map((command) => `,\n  {${describe(command, side)}`)
    reply.out(described.join('')).endJson()
  } else helpInText(reply, commands, args[0])
}

function helpInText(reply: ReplyText, commands: readonly EngineCommand[], word?: string): void {
  if (word !== undefined && !word.startsWith('-')) {
    const command = commands.find(({ name }) => name === word)
    if (command === undefined) reply.refuse(cliStatus.unknown, unknownRequest)
    else reply.out(`${command.syntax}\n${command.help}\n`)
  } else if (word === undefined || word === '-a' || word === '-d') {
    for (const command of commands)
      if (word === '-a' || command.isDebug === (word === '-d')) reply.out(`${command.syntax}\n`)
  } else reply.refuse(cliStatus.unknown, 'Unknown flag\n')
}

const descriptions = {
  manager: new WeakMap<EngineCommand, string>(),
  child: new WeakMap<EngineCommand, string>(),
}

/** Made once: each agent asks for all of them when it connects. */
function describe(command: EngineCommand, side: 'manager' | 'child'): string {
  const known = descriptions[side].get(command) ?? writeDescription(command, side)
  descriptions[side].set(command, known)
  return known
}

function writeDescription(command: EngineCommand, side: 'manager' | 'child'): string {
  const isInternal = side === 'child' && (command.name === 'help' || command.name === 'ping')
  const members = [
    `"request": ${quoteJson(command.name)}`,
    `"syntax": ${quoteJson(command.syntax)}`,
    `"help": ${quoteJson(command.help)}`,
    `"minarg": ${command.least}`,
    `"maxarg": ${command.most ?? -1}`,
    `"flags": "${command.isDebug ? 'd' : isInternal ? 'i' : ''}"`,
    `"json": ${command.hasJson}`,
  ]
  return `\n    ${members.join(',\n    ')}\n  }`
}
