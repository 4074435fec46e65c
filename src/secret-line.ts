/** A secret that a person or a pipe gives: the first line of standard input. On a terminal it is asked for and not shown. */
import { stderr, stdin } from 'node:process'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Null where the input ends before a line. */
export async function readSecretLine(question: string): Promise<string | null> {
  const isTerminal = stdin.isTTY
  if (isTerminal) stderr.write(question)
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    },
  })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: isTerminal })
  try {
    for await (const line of lines) return line
    return null
  } finally {
    lines.close()
    if (isTerminal) stderr.write('\n')
  }
}
