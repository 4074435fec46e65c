/** What cannot be taken back is asked about on a terminal, and needs `--yes` elsewhere (docs/behaviour.md, Command line). */
import { CliError, exitCodes, usageError } from './cli-error.js'
import { toPrintableLine } from './printable-text.js'
import { isSet, type Flag, type Invocation } from './verb.js'

export const yesFlag: Flag = { form: '--yes', summary: 'do not ask; needed without a terminal' }

/** `question`: `delete tag web`. Throws CliError unless it was answered with yes. */
export async function confirm(invocation: Invocation, question: string): Promise<void> {
  if (isSet(invocation, 'yes')) return
  const { stdin, stderr } = invocation.surroundings
  if (!stdin.isTTY || !stderr.isTTY) throw usageError(`to ${question} needs --yes here`)
  const { createInterface } = await import('node:readline/promises')
  const asking = createInterface({ input: stdin, output: stderr })
  try {
    // Ctrl-C reaches readline instead of the process.
    const ended = new Promise<never>((_, reject) => {
      asking.once('SIGINT', () => {
        stderr.write('\n')
        reject(new CliError(exitCodes.interrupted, 'nothing was done'))
      })
      // Ctrl-D, or an input that has ended: there is no answer to wait for.
      asking.once('close', () => {
        reject(new CliError(exitCodes.refused, 'nothing was done'))
      })
    })
    const asked = asking.question(`Shall I ${toPrintableLine(question)}? [y/N] `)
    const answer = await Promise.race([asked, ended])
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.refused, 'nothing was done')
  } finally {
    asking.close()
  }
}
