/** Reads a secret from the first line of standard input. On a terminal it prompts, without echo. */
import { stderr, stdin } from 'node:process'
import { createInterface } from 'node:readline'
import { promptHidden } from './runtime/hidden-prompt.js'

/** Null when the input ends before a line, and on Ctrl-C. */
export async function readSecretLine(question: string): Promise<string | null> {
  if (stdin.isTTY) return promptHidden(question, { stdin, stderr })
  const lines = createInterface({ input: stdin })
  try {
    for await (const line of lines) return line
    return null
  } finally {
    lines.close()
  }
}
