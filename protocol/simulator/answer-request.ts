/**
 * Processes a request to a reply: dispatch in the manager, forwarding, and dispatch in the child. The manager repeats the words of a
 * child's command without quotes, and the child parses them again: blanks split words, empty words vanish (vcli_serve.c cls_exec,
 * cls_dispatch; mgt_cli.c mcf_askchild).
 */
import { cliStatus } from '../status.js'
import { createCommandTable, type CommandTable, type EngineCommand } from './command-table.js'
import { ChildPanic, type Occasion } from './commands/call.js'
import { printPanic } from './commands/process.js'
import { coolPrograms, loseChild, type EngineState } from './engine-state.js'
import { readNumber } from './param-table.js'
import type { EngineRelease } from './release.js'
import { quoteBare, ReplyText, unknownRequest } from './reply-text.js'
import { RequestReader, type EngineRequest } from './request-reader.js'
import type { Words } from './words.js'

/** Maximum number of words that the manager's wildcard for child commands forwards (mgt_cli.c CLICMD_WILDCARD). */
const forwardedWords = 999

/** Executes one request and returns its reply. */
export function answerRequest(
  engine: EngineState,
  request: EngineRequest,
  occasion: Occasion,
): ReplyText {
  coolPrograms(engine, occasion.nowMs, readNumber(engine, 'vcl_cooldown') * 1000)
  const reply = new ReplyText()
  dispatch({ engine, occasion, reply, side: 'manager' }, request.parsed)
  applyLimit(reply, readNumber(engine, 'cli_limit'), engine.release.cutMark)
  // Any error ends an unauthenticated connection.
  if (!occasion.caller.isAuthenticated && reply.status !== cliStatus.ok) reply.closes = true
  if (reply.status === cliStatus.close) reply.closes = true
  return reply
}

/** Text over the limit is cut, and the status of a success becomes "truncated". */
function applyLimit(reply: ReplyText, limitBytes: number, mark: string): void {
  const { text } = reply
  if (text.length <= limitBytes) return
  const kept = mark === '' ? limitBytes - 1 : limitBytes - mark.length
  reply.clear().indent(0).out(text.slice(0, kept)).out(mark)
  if (reply.status === cliStatus.ok) reply.status = cliStatus.truncated
}

interface Dispatch {
  readonly engine: EngineState
  readonly occasion: Occasion
  readonly reply: ReplyText
  readonly side: 'manager' | 'child'
}

function dispatch(call: Dispatch, parsed: Words): void {
  const { engine, reply, occasion, side } = call
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
    refuseName(call, name, prefix)
    return
  }
  const isChild = side === 'child' || occasion.caller.isAuthenticated
  const command = commandsOf(engine.release).get(name)
  if (command !== undefined && isKnownAt(call, command)) runCommand(call, command, parsed.words)
  else if (isChild && side === 'manager') askChild(call, parsed.words)
  else reply.refuse(cliStatus.unknown, unknownRequest)
}

function refuseName({ engine, reply }: Dispatch, name: string, prefix: string): void {
  const isCapital = /^[A-Z]/.test(name)
  if (engine.release.isUnknownPrefixed)
    reply.refuse(cliStatus.unknown, prefix + (isCapital ? 'all commands are in lower-case.\n' : ''))
  else reply.refuse(cliStatus.unknown, 'All commands are in lower-case.\n')
}

/** The manager knows its own commands, the child its own and `help`. */
function isKnownAt({ side, occasion }: Dispatch, command: EngineCommand): boolean {
  if (side === 'child') return command.side === 'child' || command.name === 'help'
  return command.side === 'manager' && (command.isOpen || occasion.caller.isAuthenticated)
}

function runCommand(call: Dispatch, command: EngineCommand, words: readonly string[]): void {
  const { engine, reply, occasion } = call
  const isJson = words[1] === '-j'
  const args = words.slice(isJson ? 2 : 1)
  if (isJson && !command.hasJson) reply.refuse(cliStatus.unimplemented, 'JSON unimplemented\n')
  else if (args.length < command.least) reply.refuse(cliStatus.tooFew, 'Too few parameters\n')
  else if (command.most !== undefined && args.length > command.most)
    reply.refuse(cliStatus.tooMany, 'Too many parameters\n')
  else if (command.name === 'help' && call.side === 'manager' && engine.child !== undefined)
    askChild(call, words)
  else
    mayPanic(call, words, () => {
      const commands = commandsOf(engine.release)
      command.answer({ engine, commands, words, args, isJson, reply, side: call.side, ...occasion })
    })
}

/** A child that dies during a command leaves its panic and no reply. */
function mayPanic(
  { engine, reply, occasion }: Dispatch,
  words: readonly string[],
  answer: () => void,
) {
  try {
    answer()
  } catch (error) {
    if (!(error instanceof ChildPanic)) throw error
    engine.panic = printPanic(words[0] ?? '', engine.release, occasion.nowMs)
    loseChild(engine, occasion)
    reply.clear().refuse(cliStatus.communication, 'CLI communication error (hdr)')
  }
}

function askChild(call: Dispatch, words: readonly string[]): void {
  const { engine, reply } = call
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
  if (request !== undefined) dispatch({ ...call, side: 'child' }, request.parsed)
  // The child now waits for the end of a here-document, and the manager waits for the child.
  else hangChild(call)
}

/** The manager kills a child that does not respond within cli_timeout. */
function hangChild(call: Dispatch): void {
  const timeoutMs = readNumber(call.engine, 'cli_timeout') * 1000
  call.reply.delayMs = timeoutMs > 0 ? timeoutMs : Infinity
  loseChild(call.engine, call.occasion)
  call.reply.refuse(cliStatus.communication, 'CLI communication error (hdr)')
}

const tables = new Map<string, CommandTable>()

/** Returns the release's table, shared by all engines. */
function commandsOf(release: EngineRelease): CommandTable {
  const known = tables.get(release.version)
  if (known !== undefined) return known
  const table = createCommandTable(release)
  if (tables.size < 100) tables.set(release.version, table)
  return table
}
