/** `completion`: prints the script of a shell. The scripts ask `complete-names` for what only the coordinator knows. */
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

/** Nobody waits longer after pressing the key. */
const timeoutMs = 2_000
/** More than anybody reads. */
const namesAtMost = 200
/** Shells take these as they are: a name from the coordinator must not be a command to one. */
const harmless = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/

/** One name a line; nothing when the coordinator does not answer. */
export async function printNames(invocation: Invocation): Promise<undefined> {
  const asked = word(invocation, 0)
  const noun = invocation.grammar.nouns.filter(isOfApi).find(({ name }) => name === asked)
  if (!noun || noun.nameField === null) return
  const { path, nameField } = noun
  try {
    const api = await invocation.openApi()
    const query = { take: String(namesAtMost) }
    const { body } = await api.call({ method: 'GET', path, query, timeoutMs })
    const names = requireList(body).map((row) => toCell(readField(row, nameField)))
    for (const name of names) if (harmless.test(name)) invocation.output.write(`${name}\n`)
  } catch {
    // A completion has nowhere to say what went wrong; the command itself will.
  }
}
