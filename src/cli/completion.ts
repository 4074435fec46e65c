/** `completion`: prints a shell's script. The scripts call `complete-names` for names that only the coordinator knows. */
import { requireList } from './api-shapes.js'
import { readField, toCell } from './cells.js'
import { usageError } from './cli-error.js'
import { printBash } from './completion-bash.js'
import { printFish } from './completion-fish.js'
import { printZsh } from './completion-zsh.js'
import { isOfApi, word, type Grammar, type Invocation } from './verb.js'

const scripts: Readonly<Record<string, (grammar: Grammar) => string>> = {
  bash: printBash,
  zsh: printZsh,
  fish: printFish,
}

export function printCompletion(invocation: Invocation): Promise<undefined> {
  const shell = word(invocation, 0)
  const print = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (!print) throw usageError(`There is a completion for bash, zsh and fish, not for ${shell}`)
  invocation.output.write(print(invocation.grammar))
  return Promise.resolve(undefined)
}

/** Users do not wait longer than this for a completion. */
const timeoutMs = 2_000
/** A longer list would not be read. */
const maxNames = 200
/** Shells insert these unquoted, so a name from the coordinator must not contain shell syntax. */
const harmless = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/

/** Prints one name per line; nothing if the coordinator does not respond. */
export async function printNames(invocation: Invocation): Promise<undefined> {
  const asked = word(invocation, 0)
  const noun = invocation.grammar.nouns.filter(isOfApi).find(({ name }) => name === asked)
  if (!noun || noun.nameField === null) return
  const { path, nameField } = noun
  try {
    const api = await invocation.openApi()
    const query = { take: String(maxNames) }
    const { body } = await api.call({ method: 'GET', path, query, timeoutMs })
    const names = requireList(body).map((row) => toCell(readField(row, nameField)))
    for (const name of names) if (harmless.test(name)) invocation.output.write(`${name}\n`)
  } catch {
    // A completion has nowhere to say what went wrong; the command itself will.
  }
}
