/** Irreversible actions need confirmation on a terminal, and `--yes` elsewhere (docs/behaviour.md, Command line). */
import { capitalize } from './capitalize.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { toPrintableLine } from './printable-text.js'
import { isSet, word, type Flag, type Invocation, type Named } from './verb.js'

export const yesFlag: Flag = { form: '--yes', summary: 'do not ask; needed without a terminal' }

/** `what`: for example `undeploy`; applies to the object that the verb's first argument names. */
export function confirmObject(
  invocation: Invocation,
  what: string,
  { singular }: Named,
): Promise<void> {
  return confirm(invocation, `${what} ${singular} ${JSON.stringify(word(invocation, 0))}`)
}

/** `question`: for example `delete tag web`. Throws CliError unless the user answers yes. */
export async function confirm(invocation: Invocation, question: string): Promise<void> {
  if (isSet(invocation, 'yes')) return
  const { stdin, stderr } = invocation.system
  if (!stdin.isTTY || !stderr.isTTY)
    throw usageError(`Without a terminal --yes is needed to ${question}`)
  const { createInterface } = await import('node:readline/promises')
  const asking = createInterface({ input: stdin, output: stderr })
  try {
    // On Ctrl-C readline, not the process, gets the signal.
    const ended = new Promise<never>((_, reject) => {
      asking.once('SIGINT', () => {
        stderr.write('\n')
        reject(new CliError(exitCodes.interrupted, 'Nothing was done'))
      })
      // Ctrl-D or the end of the input: no answer will follow.
      asking.once('close', () => {
        reject(new CliError(exitCodes.refused, 'Nothing was done'))
      })
    })
    const asked = asking.question(`${capitalize(toPrintableLine(question))}? (y/N) `)
    const answer = await Promise.race([asked, ended])
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.refused, 'Nothing was done')
  } finally {
    asking.close()
  }
}
