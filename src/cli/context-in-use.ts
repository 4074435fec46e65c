/**
 * Chooses which of the user's logins to use: `--context`, else the one that `contexts use` wrote beside the session file, else the one
 * named default. The choice has its own file, so that the session file contains logins only.
 */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeDurably } from '../runtime/durable-file.js'
import { usageError } from './cli-error.js'
import { defaultContext, sessionFilePath, type Environment } from './session-file.js'

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

/** `given`: value of `--context`. Throws CliError for an invalid context name. */
export async function chooseContext(
  given: string | undefined,
  environment: Environment,
): Promise<string> {
  if (given !== undefined) return checkContextName(given)
  const text = await readFile(contextFilePath(environment), 'utf8').catch(() => '')
  return nameForm.test(text.trim()) ? text.trim() : defaultContext
}

/** Null selects the context named default. */
export async function writeContextInUse(
  environment: Environment,
  name: string | null,
): Promise<void> {
  const path = contextFilePath(environment)
  if (name === null || name === defaultContext) {
    await rm(path, { force: true })
    return
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeDurably(path, `${checkContextName(name)}\n`)
}

function checkContextName(name: string): string {
  if (nameForm.test(name)) return name
  throw usageError(
    `${JSON.stringify(name)} is not a name of a context; expected up to 64 letters, digits, and . _ @ -`,
  )
}

function contextFilePath(environment: Environment): string {
  return join(dirname(sessionFilePath(environment)), 'context')
}
