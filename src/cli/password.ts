/** Reads a password from the command line's sources. */
import { promptHidden } from '../runtime/hidden-prompt.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { readSecretFile, readSecretInput } from './given-text.js'
import { toPrintableLine } from './printable-text.js'
import { isSet, textFlag, type Invocation, type System } from './verb.js'

/** True if a flag supplies the password; otherwise the client prompts for it. */
export function hasPassword(invocation: Invocation): boolean {
  return textFlag(invocation, 'password-file') !== undefined || isSet(invocation, 'password-stdin')
}

/** Reads the password from the flags' source, else prompts on a terminal. Throws CliError if neither is possible. */
export async function readPassword(invocation: Invocation, question: string): Promise<string> {
  const { system } = invocation
  const file = textFlag(invocation, 'password-file')
  if (file !== undefined && isSet(invocation, 'password-stdin'))
    throw usageError('--password-stdin and --password-file exclude each other')
  if (file !== undefined) return readSecretFile(file, system)
  if (isSet(invocation, 'password-stdin')) return readSecretInput(system)
  if (!system.stdin.isTTY || !system.stderr.isTTY)
    throw usageError('Without a terminal --password-stdin or --password-file is needed')
  return askHidden(question, system)
}

/** Like readPassword, but a prompt asks twice. */
export async function readNewPassword(invocation: Invocation, question: string): Promise<string> {
  const password = await readPassword(invocation, question)
  if (hasPassword(invocation)) return password
  const again = await askHidden('The same again: ', invocation.system)
  if (again !== password) throw usageError('These are two different passwords; nothing was done')
  return password
}

/** Throws CliError on Ctrl-C and on empty input. */
export async function askHidden(question: string, system: System): Promise<string> {
  const typed = await promptHidden(toPrintableLine(question), system)
  if (typed === null) throw new CliError(exitCodes.interrupted, 'Nothing was done')
  if (typed === '') throw usageError('Nothing was typed')
  return typed
}
