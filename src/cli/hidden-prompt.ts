/** Asks for a secret on a terminal; what is typed is not shown. */
import { CliError, exitCodes, usageError } from './cli-error.js'
import { toPrintableLine } from './printable-text.js'
import type { System } from './verb.js'

const enter = /[\r\n\x04]/
const interrupt = '\x03'
const erase = /[\x7f\b]/
/** Characters. */
const longest = 4096

/** Rejects with CliError on Ctrl-C and when nothing is typed. */
export async function promptHidden(
  question: string,
  { stdin, stderr }: Pick<System, 'stdin' | 'stderr'>,
): Promise<string> {
  stderr.write(toPrintableLine(question))
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  try {
    const typed = await readTyped(stdin)
    if (typed === '') throw usageError('nothing was typed')
    return typed
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** What was pasted behind a line answers the next question. */
const pasted = new WeakMap<object, string>()

/** In raw mode the terminal edits nothing: erasing and Ctrl-C are ours. */
function readTyped(stdin: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = []
    const finish = (end: () => void): void => {
      stdin.off('data', take)
      stdin.off('end', close)
      end()
    }
    const close = (): void => {
      finish(() => {
        resolve(typed.join(''))
      })
    }
    const take = (chunk: string): void => {
      const characters = Array.from(chunk)
      for (const [index, character] of characters.entries()) {
        if (character === interrupt) {
          finish(() => {
            reject(new CliError(exitCodes.interrupted, 'nothing was done'))
          })
          return
        }
        if (enter.test(character)) {
          close()
          pasted.set(stdin, characters.slice(index + 1).join(''))
          return
        }
        typed = erase.test(character) ? typed.slice(0, -1) : [...typed, character].slice(0, longest)
      }
    }
    stdin.on('data', take)
    stdin.once('end', close)
    stdin.resume()
    const rest = pasted.get(stdin) ?? ''
    pasted.delete(stdin)
    take(rest)
  })
}
