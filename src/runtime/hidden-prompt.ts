/** Prompts for a secret on a terminal without echo. */

export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stderr: NodeJS.WriteStream
}

const enter = /[\r\n\x04]/
const interrupt = '\x03'
const erase = /[\x7f\b]/
/** Characters. */
const longest = 4096

/** Null on Ctrl-C. */
export async function promptHidden(
  question: string,
  { stdin, stderr }: Terminal,
): Promise<string | null> {
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  try {
    return await readTyped(stdin)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** Text pasted after a line answers the next prompt. */
const pasted = new WeakMap<object, string>()

/** In raw mode the terminal does no editing: erasing and Ctrl-C are handled here. */
function readTyped(stdin: NodeJS.ReadStream): Promise<string | null> {
  return new Promise((resolve) => {
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
            resolve(null)
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
