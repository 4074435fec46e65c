/** auth, help, quit: the commands of the session itself. */
import { timingSafeEqual } from 'node:crypto'
import { answerChallenge } from '../../auth.js'
import { cliStatus } from '../../status.js'
import type { EngineCommand } from '../command-table.js'
import { quoteJson, unknownRequest, type ReplyText } from '../reply-text.js'
import type { Call } from './call.js'
import { printBanner } from './process.js'

export function authenticate({ engine, reply, caller, args }: Call): void {
  if (caller.secret === null) {
    reply.refuse(cliStatus.cannot, 'Secret file not configured\n')
    return
  }
  if (caller.secret === 'missing') {
    reply.refuse(cliStatus.cannot, 'Cannot open secret file (No such file or directory)\n')
    return
  }
  if (!isRight(args[0] ?? '', caller.challenge, caller.secret)) {
    reply.refuse(cliStatus.close, '')
    reply.closes = true
    return
  }
  caller.isAuthenticated = true
  caller.challenge = ''
  printBanner({ engine, reply })
}

export function quit({ reply }: Call): void {
  reply.refuse(cliStatus.close, 'Closing CLI connection')
  reply.closes = true
}

function isRight(answer: string, challenge: string, secret: Buffer): boolean {
  if (challenge === '') return false
  const expected = Buffer.from(answerChallenge(Buffer.from(`${challenge}\n`), secret))
  const given = Buffer.from(answer.toLowerCase(), 'latin1')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Shows the commands of the process that responds: all for the child, its own for the manager (VCLS_func_help). */
export function help({ reply, args, words, nowMs, isJson, side, caller, ...call }: Call): void {
  const mayAll = side === 'child' || caller.isAuthenticated
  const commands = [...call.commands.values()].filter(
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

/** Cached, because every agent requests all descriptions when it connects. */
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
